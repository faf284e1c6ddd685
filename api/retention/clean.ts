// Clock work: what is no longer to be kept goes, a bounded part of it in each turn. Safe in several processes at once and after a
// kill at any moment: rows go before objects, and what is taken in hand is a lease.
import type { CleaningServices } from '../clock-work.ts';
import { forgetDeliveries } from '../../db/webhooks/deliveries.ts';
import { forgetByAge } from './by-age.ts';
import { removeDoomed } from './doomed.ts';
import { sweepAttempts, sweepFolders } from './litter.ts';
import { thinJobs } from './thin-jobs.ts';
import { abortUploads } from './uploads.ts';

const deliveriesOfTurn = 5_000;

/** A part that fails is told, and keeps no other from its turn. */
export async function clean(services: CleaningServices): Promise<void> {
  const { db, keep } = services;
  const parts: readonly [name: string, work: () => Promise<unknown>][] = [
    ['thin', () => thinJobs(services)],
    ['by age', () => forgetByAge(services)],
    ['deliveries', () => forgetDeliveries(db, keep.deliveriesMs, deliveriesOfTurn)],
    ['attempts', () => sweepAttempts(services)],
    ['folders', () => sweepFolders(services)],
    ['uploads', () => abortUploads(services)],
    ['doomed', () => removeDoomed(services)],
  ];
  for (const [part, work] of parts) {
    if (services.signal.aborted) return;
    await work().catch((error: unknown) => services.log.warn({ err: error, part }, 'cleaning failed'));
  }
}

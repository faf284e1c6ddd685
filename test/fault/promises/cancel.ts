// Cancel frees the machine within 10 s, with every process of the trainer, and keeps the last checkpoint. Asked of a service that
// nobody disturbs any more: while faults fall a cancel takes as long as the lease of whoever cannot hear it.
import { setTimeout as delay } from 'node:timers/promises';
import type { JobState } from '../../../api/contract/job.ts';
import type { Installation } from '../installation.ts';
import type { Accepted } from './jobs.ts';
import type { SpecOf } from '../specs.ts';

const mostMs = 10_000;

export interface CancelFinding {
  readonly job: Accepted;
  readonly breaches: string[];
  readonly freedAfterMs: number;
}

export async function cancelOne(
  { client, processes, site }: Installation,
  specOf: SpecOf,
): Promise<CancelFinding> {
  const trainers = (): number =>
    Array.from({ length: site.runners }, (_, of) => processes.of({ role: 'trainer', of })).flat().length;
  const { id, name } = await client.createJob(specOf('endless', 1));
  const breaches: string[] = [];
  for await (const { body } of client.events(id)) if (body.type === 'checkpoint') break;
  const { last_checkpoint: before } = await client.job(id);
  const asked = performance.now();
  await client.cancelJob(id);
  while (trainers() > 0 && performance.now() - asked < 3 * mostMs) await delay(20);
  const freedAfterMs = performance.now() - asked;
  if (freedAfterMs > mostMs)
    breaches.push(`${id}: a cancel freed the machine after ${Math.round(freedAfterMs)} ms`);
  let state: JobState | undefined;
  for await (const { body } of client.events(id)) if (body.type === 'state') state = body.to;
  if (state !== 'cancelled') breaches.push(`${id}: cancelled, and ends as ${state}`);
  const { last_checkpoint: after } = await client.job(id);
  if (before === null || after === null) breaches.push(`${id}: cancelled, and has no checkpoint`);
  return { job: { id, name: name!, mayEndAs: ['cancelled'] }, breaches, freedAfterMs };
}

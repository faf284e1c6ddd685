// Objects that nothing names: of uploads that were killed before their commit, of jobs and datasets whose rows are gone. Never those of
// an attempt at work, and never before they are as old as the grace, by the store's own time.
import { attemptPrefix } from '../runner/object-keys.ts';
import { doom } from '../../db/retention/doomed.ts';
import type { EndedAttempt } from '../../db/retention/litter.ts';
import {
  knownDatasets,
  knownJobs,
  markSwept,
  namedObjects,
  unsweptAttempts,
} from '../../db/retention/litter.ts';
import { leavePass, takePass } from '../../db/retention/passes.ts';
import type { CleaningServices } from '../clock-work.ts';

const attemptsOfTurn = 20;
const foldersOfTurn = 500;
const passLeaseMs = 600_000;
const passPauseMs = 3_600_000;

type Needs = Pick<CleaningServices, 'db' | 'store' | 'keep' | 'now' | 'signal'>;

/** How many attempts were looked at. What an attempt wrote after its end is too young, and goes when it is old enough. */
export async function sweepAttempts(services: Needs): Promise<number> {
  const ended = await unsweptAttempts(services.db, services.keep.litterMs, attemptsOfTurn);
  for (const [looked, one] of ended.entries()) {
    if (services.signal.aborted) return looked;
    await sweepAttempt(services, one);
  }
  return ended.length;
}

/** An attempt that has ended commits nothing more: what is not named now never will be. */
async function sweepAttempt({ db, store, keep }: Needs, attempt: EndedAttempt): Promise<void> {
  const { prefixes, keys } = await namedObjects(db, attempt);
  const named = new Set(keys);
  const litter: { prefix: string; notBefore: Date }[] = [];
  for await (const { key, modified } of store.list(attemptPrefix(attempt.job, attempt.attempt)))
    if (!named.has(key) && !prefixes.some((prefix) => key.startsWith(prefix)))
      litter.push({ prefix: key, notBefore: new Date(modified.getTime() + keep.litterMs) });
  await db.transaction(async (tx) => {
    await doom(tx, litter);
    await markSwept(tx, attempt);
  });
}

/** Folders of jobs and datasets that have no row; once an hour it is through all of them. */
export async function sweepFolders(services: Needs): Promise<void> {
  await sweepBelow(services, 'jobs/', knownJobs);
  await sweepBelow(services, 'datasets/', knownDatasets);
}

async function sweepBelow(services: Needs, prefix: string, known: typeof knownJobs): Promise<void> {
  const { db, store } = services;
  const name = `litter:${prefix}`;
  const taken = await takePass(db, name, passLeaseMs);
  if (taken === undefined) return;
  const ids: string[] = [];
  for await (const id of store.folders(prefix, taken.position ?? undefined)) {
    ids.push(id);
    if (ids.length === foldersOfTurn) break;
  }
  const there = await known(db, ids);
  for (const id of ids) if (!there.has(id)) await doomOld(services, `${prefix}${id}/`);
  const more = ids.length === foldersOfTurn;
  await leavePass(db, name, {
    position: more ? (ids.at(-1) ?? null) : null,
    pauseMs: more ? 0 : passPauseMs,
  });
}

/** Young ones may be of a row that is about to be written. */
async function doomOld({ db, store, keep, now }: Needs, folder: string): Promise<void> {
  const oldest = now().getTime() - keep.litterMs;
  const litter: { prefix: string; notBefore: Date }[] = [];
  for await (const { key, modified } of store.list(folder))
    if (modified.getTime() < oldest) litter.push({ prefix: key, notBefore: new Date(0) });
  await doom(db, litter);
}

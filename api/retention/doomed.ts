// Objects whose rows are gone: removed from the store, so many a turn.
import { claimDoomed, committedBelow, forgetDoomed, goOnWithDoomed } from '../../db/retention/doomed.ts';
import type { Doomed } from '../../db/retention/doomed.ts';
import type { CleaningServices } from '../clock-work.ts';

const prefixesOfTurn = 50;
const objectsOfPrefix = 1_000;

type Needs = Pick<CleaningServices, 'db' | 'store' | 'signal'>;

/** How many objects were named to the store to be deleted; of each prefix `most` at once. */
export async function removeDoomed(services: Needs, most = objectsOfPrefix): Promise<number> {
  let removed = 0;
  for (const doomed of await claimDoomed(services.db, prefixesOfTurn)) {
    if (services.signal.aborted) return removed;
    removed += await removeOne(services, doomed, most);
  }
  return removed;
}

async function removeOne({ db, store }: Needs, { id, prefix }: Doomed, most: number): Promise<number> {
  const keys = prefix.endsWith('/') ? await someBelow({ db, store }, prefix, most) : [prefix];
  await store.delete(keys);
  await (keys.length < most ? forgetDoomed(db, id) : goOnWithDoomed(db, id));
  return keys.length;
}

async function someBelow(
  { db, store }: Pick<Needs, 'db' | 'store'>,
  prefix: string,
  most: number,
): Promise<string[]> {
  const job = /^jobs\/([^/]+)\//.exec(prefix)?.[1];
  const committed = job === undefined ? [] : await committedBelow(db, job, prefix);
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) {
    if (committed.some((one) => key.startsWith(one))) continue;
    keys.push(key);
    if (keys.length === most) break;
  }
  return keys;
}

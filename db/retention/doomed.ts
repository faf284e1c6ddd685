// Objects that are to go, worked off a few at a time. A claim is a lease: what a process that died had begun is gone on with by another.
import { eq, sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { thisMoment } from '../queue/fence.ts';
import { doomedObjects } from './table.ts';

export interface Doomed {
  id: number;
  prefix: string;
}

/** With each try the pause to the next doubles, up to a day: a store that is away is not asked all the time. */
export async function claimDoomed(db: Database, limit: number): Promise<Doomed[]> {
  const rows = await db.execute<{ id: string; prefix: string }>(sql`
    update doomed_objects set tries = tries + 1,
      not_before = now() + least(interval '1 day', interval '1 minute' * (2 ^ least(tries, 12)))
    where id in (
      select id from doomed_objects where not_before <= ${thisMoment} order by not_before limit ${limit} for update skip locked)
    returning id, prefix`);
  return rows.map(({ id, prefix }) => ({ id: Number(id), prefix }));
}

/** All of it is gone. */
export async function forgetDoomed(db: Database, id: number): Promise<void> {
  await db.delete(doomedObjects).where(eq(doomedObjects.id, id));
}

/** There was more than one turn may take. */
export async function goOnWithDoomed(db: Database, id: number): Promise<void> {
  await db
    .update(doomedObjects)
    .set({ notBefore: sql`now()`, tries: 0 })
    .where(eq(doomedObjects.id, id));
}

export async function doom(
  db: Database,
  objects: readonly { readonly prefix: string; readonly notBefore: Date }[],
): Promise<void> {
  for (let at = 0; at < objects.length; at += 500)
    await db.insert(doomedObjects).values(objects.slice(at, at + 500));
}

/** Prefixes below this one that committed checkpoints of the job have: nothing there is removed, whatever was written down. */
export async function committedBelow(db: Database, jobId: string, prefix: string): Promise<string[]> {
  const rows = await db.execute<{ prefix: string }>(sql`
    select prefix from checkpoints where job_id = ${jobId} and starts_with(prefix, ${prefix})`);
  return rows.map((row) => row.prefix);
}

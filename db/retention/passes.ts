// Passes over jobs or over the store, which go on where the last turn stopped, in whatever process. To take one is a lease.
import { eq, sql } from 'drizzle-orm';
import type { Database } from '../connect.ts';
import { passes } from './table.ts';

/** Where to go on; undefined if the pass is not due, or another process is at it. */
export async function takePass(
  db: Database,
  name: string,
  leaseMs: number,
): Promise<{ position: string | null } | undefined> {
  await db.insert(passes).values({ name }).onConflictDoNothing();
  const [row] = await db.execute<{ position: string | null }>(sql`
    update passes set due_at = now() + ${leaseMs} * interval '1 millisecond'
    where name = ${name} and due_at <= now() + interval '1 millisecond' returning position`);
  return row === undefined ? undefined : { position: row.position };
}

/** `position` null: it is through, and begins anew after the pause. */
export async function leavePass(
  db: Database,
  name: string,
  { position, pauseMs }: { position: string | null; pauseMs: number },
): Promise<void> {
  await db
    .update(passes)
    .set({ position, dueAt: sql`now() + ${pauseMs} * interval '1 millisecond'` })
    .where(eq(passes.name, name));
}

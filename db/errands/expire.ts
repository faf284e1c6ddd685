// Clock work: errands whose runner has fallen silent go back to the queue, a few times; errands that nobody came for, or that
// have been answered, are not kept for ever. Safe to run anywhere, any number of times at once.
import { and, asc, eq, inArray, lt, sql } from 'drizzle-orm';
import type { ErrandState } from '../../api/contract/errand.ts';
import type { Database } from '../connect.ts';
import { errands } from './table.ts';
import { endErrand, requeueErrand } from './end.ts';
import { heldColumns } from './hold.ts';

/** An errand that has outlived so many of its runners may have ended them. */
const mostLostLeases = 3;
const keptFor = sql`interval '1 hour'`;

export interface ExpiredErrand {
  errand: string;
  attempt: number;
  state: ErrandState;
}

/** Every lease that has run out, each in a transaction of its own. */
export async function expireErrands(db: Database): Promise<ExpiredErrand[]> {
  const expired: ExpiredErrand[] = [];
  for (;;) {
    const one = await expireOne(db);
    if (one === undefined) return expired;
    expired.push(one);
  }
}

async function expireOne(db: Database): Promise<ExpiredErrand | undefined> {
  return await db.transaction(async (tx) => {
    const [errand] = await tx
      .select(heldColumns)
      .from(errands)
      .where(and(eq(errands.state, 'running'), lt(errands.leaseExpiresAt, sql`now()`)))
      .orderBy(asc(errands.leaseExpiresAt))
      .limit(1)
      .for('update', { skipLocked: true });
    if (errand === undefined) return undefined;
    const lostLeases = errand.lostLeases + 1;
    const reason = 'runner_lost';
    const message = `the runner was not heard of until its lease ran out (${lostLeases} of ${mostLostLeases} times)`;
    const state =
      lostLeases < mostLostLeases
        ? await requeueErrand(tx, { ...errand, lostLeases }, { reason, message })
        : await endErrand(tx, errand, { type: 'failed', reason, message });
    return { errand: errand.id, attempt: errand.attempt, state };
  });
}

/** Deletes what was answered an hour ago, and ends what nobody has come for in an hour. Datasets wait as long as it takes. */
export async function forgetErrands(db: Database): Promise<void> {
  await db
    .delete(errands)
    .where(
      and(inArray(errands.state, ['succeeded', 'failed']), lt(errands.finishedAt, sql`now() - ${keptFor}`)),
    );
  await db
    .update(errands)
    .set({
      state: 'failed',
      reason: 'expired',
      message: 'no runner came for it within an hour: start one that can do it, and ask again',
      finishedAt: sql`now()`,
    })
    .where(
      and(
        eq(errands.state, 'queued'),
        eq(errands.kind, 'grade'),
        lt(errands.createdAt, sql`now() - ${keptFor}`),
      ),
    );
}

// A runner asks for an errand: what somebody waits for first (`grade`), then the oldest. Callers never wait for each other:
// rows that another claim has locked are skipped.
import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm';
import type { ErrandKind } from '../../api/contract/errand.ts';
import { getCheckpoint } from '../checkpoints/get.ts';
import type { Database } from '../connect.ts';
import { leaseEnd, thisMoment } from '../queue/fence.ts';
import { touchRunner, type RunnerKey } from '../runners.ts';
import type { CheckpointRow } from '../schema.ts';
import { errands, type ErrandRow } from './table.ts';

export interface ErrandClaimOptions extends RunnerKey {
  runner: string;
  kinds: readonly ErrandKind[];
  leaseMs: number;
}

/** `rewardModel`: the checkpoint that its grader scores with; undefined too where it is gone. */
export interface ClaimedErrand extends ErrandRow {
  rewardModel: CheckpointRow | undefined;
}

/** The errand with its new attempt; undefined if there is nothing for this runner. */
export async function claimErrand(
  db: Database,
  { runner: id, kinds, leaseMs, ...key }: ErrandClaimOptions,
): Promise<ClaimedErrand | 'unknown_runner' | undefined> {
  return await db.transaction(async (tx) => {
    const runner = await touchRunner(tx, key, id);
    if (runner === undefined) return 'unknown_runner';
    const free = tx
      .select({ id: errands.id })
      .from(errands)
      .where(
        and(
          runner.shared ? undefined : eq(errands.projectId, runner.projectId),
          eq(errands.state, 'queued'),
          inArray(errands.kind, [...kinds]),
          sql`${errands.languages} <@ ${sql.param(runner.languages, errands.languages)}`,
          lte(errands.availableAt, thisMoment),
        ),
      )
      // 'grade' comes before 'validate'.
      .orderBy(asc(errands.kind), asc(errands.id))
      .limit(1)
      .for('update', { skipLocked: true });
    const [errand] = await tx
      .update(errands)
      .set({
        state: 'running',
        attempt: sql`${errands.attempt} + 1`,
        runnerId: runner.id,
        leaseExpiresAt: leaseEnd(leaseMs),
        message: null,
      })
      // A scalar subquery is worked out once; `in (…)` could be run again for each row and lock more than one.
      .where(eq(errands.id, sql`(${free})`))
      .returning();
    return errand && { ...errand, rewardModel: await rewardModel(tx, errand) };
  });
}

async function rewardModel(
  tx: Database,
  { projectId, payload: { grader } }: ErrandRow,
): Promise<CheckpointRow | undefined> {
  return grader.type === 'preference' ? await getCheckpoint(tx, projectId, grader.model) : undefined;
}

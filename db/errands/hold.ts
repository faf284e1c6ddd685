// The fence of errands: every call of a runner names errand and attempt, and changes nothing once that attempt no longer
// holds the errand. As for jobs, `lease_lost` is a normal value and not an exception.
import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { ErrandKind } from '../../api/contract/errand.ts';
import type { Database } from '../connect.ts';
import { leaseEnd, type LeaseLost } from '../queue/fence.ts';
import { reaches, touchRunner, type RunnerKey } from '../runners.ts';
import { errands } from './table.ts';

export interface ErrandFence extends RunnerKey {
  runner: string;
  errand: string;
  attempt: number;
}

/** What ending an errand must know of it. */
export interface HeldErrand {
  id: string;
  kind: ErrandKind;
  datasetId: string | null;
  attempt: number;
  lostLeases: number;
  /** Of a grade errand. */
  items: number;
}

/** Whose errand it is, whatever became of it. */
export const isOf = (fence: ErrandFence): SQL | undefined =>
  and(
    eq(errands.id, fence.errand),
    eq(errands.attempt, fence.attempt),
    reaches(fence, errands.projectId),
    eq(errands.runnerId, fence.runner),
  );

const holds = (fence: ErrandFence): SQL | undefined => and(isOf(fence), eq(errands.state, 'running'));

export const heldColumns = {
  id: errands.id,
  kind: errands.kind,
  datasetId: errands.datasetId,
  attempt: errands.attempt,
  lostLeases: errands.lostLeases,
  items: sql<number>`coalesce(jsonb_array_length(${errands.payload} -> 'items'), 0)`,
};

/** Locks the errand for the rest of the transaction if the attempt still holds it. */
export async function lockHeldErrand(tx: Database, fence: ErrandFence): Promise<HeldErrand | LeaseLost> {
  const [row] = await tx.select(heldColumns).from(errands).where(holds(fence)).for('update');
  return row ?? 'lease_lost';
}

/** Renews the lease; one that ran out but was not yet taken away is renewed, too. */
export async function renewErrand(
  db: Database,
  fence: ErrandFence,
  leaseMs: number,
): Promise<LeaseLost | 'held'> {
  await touchRunner(db, fence, fence.runner);
  const rows = await db
    .update(errands)
    .set({ leaseExpiresAt: leaseEnd(leaseMs) })
    .where(holds(fence))
    .returning({ id: errands.id });
  return rows.length > 0 ? 'held' : 'lease_lost';
}

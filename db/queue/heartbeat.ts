// The heartbeat keeps the lease, tells where the job stands, and carries a pause or a cancel back to the runner.
import { sql } from 'drizzle-orm';
import type { Progress } from '../../api/contract/job.ts';
import type { HeartbeatAction } from '../../api/contract/runner.ts';
import type { Database } from '../connect.ts';
import { storableJson } from '../json.ts';
import { jobs } from '../schema.ts';
import type { HeldState } from '../states.ts';
import { holds, leaseEnd, progressedNow, type Fence, type LeaseLost } from './fence.ts';

export interface Heartbeat extends Fence {
  progress?: Progress | null | undefined;
  /** Of life: from the trainer and from transfers, counted from the beginning of the attempt. */
  signs?: number | undefined;
  leaseMs: number;
}

const actions = {
  running: 'continue',
  pausing: 'pause',
  cancelling: 'cancel',
} as const satisfies Record<HeldState, HeartbeatAction>;

/**
 * What the runner is to do next. A lease that ran out but was not yet taken away is renewed. Progress or a sign of life that the
 * heartbeat before did not bring is seen as getting on.
 */
export async function heartbeat(db: Database, beat: Heartbeat): Promise<HeartbeatAction | LeaseLost> {
  const told = beat.progress ?? null;
  const progress = told === null ? sql`${jobs.progress}` : sql`${storableJson(told)}::jsonb`;
  const signs = beat.signs === undefined ? sql`${jobs.signs}` : sql`${beat.signs}::integer`;
  const isNew = sql`(${progress} is distinct from ${jobs.progress} or ${signs} <> ${jobs.signs})`;
  const [row] = await db
    .update(jobs)
    .set({
      leaseExpiresAt: leaseEnd(beat.leaseMs),
      progress,
      signs,
      progressedAt: sql`case when ${isNew} then ${progressedNow} else ${jobs.progressedAt} end`,
    })
    .where(holds(beat))
    .returning({ state: jobs.state });
  if (row === undefined) return 'lease_lost';
  return actions[row.state as HeldState];
}

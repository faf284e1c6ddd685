// A runner that lost its lease changes nothing: every statement of the protocol, every way to be stale.
import { beforeAll, describe, expect, test } from 'vitest';
import { commitCheckpoint } from '../../db/checkpoints/commit.ts';
import { heldStageEnd } from '../../db/checkpoints/stage-ends.ts';
import { expireLeases } from '../../db/queue/expire-leases.ts';
import type { Fence } from '../../db/queue/fence.ts';
import { finishAttempt } from '../../db/queue/finish.ts';
import { heartbeat } from '../../db/queue/heartbeat.ts';
import { applyReport } from '../../db/reports/apply.ts';
import { useDatabase } from '../support/postgres.ts';
import {
  backdate,
  checkpointAt,
  claimAgain,
  insertProject,
  insertRunner,
  leaseMs,
  runningJob,
} from './support.ts';

const pg = useDatabase();

const calls: Record<string, (fence: Fence) => Promise<unknown>> = {
  heartbeat: (fence) => heartbeat(pg.db, { ...fence, leaseMs }),
  report: (fence) =>
    applyReport(pg.db, {
      ...fence,
      sequence: 1,
      entries: [{ type: 'stage_started', stage: 'sft', stage_index: 0, steps: 1 }],
      log: 'late',
    }),
  checkpoint: (fence) => commitCheckpoint(pg.db, fence, checkpointAt(fence, 1)),
  'stage end': (fence) => heldStageEnd(pg.db, fence, 0),
  finish: (fence) => finishAttempt(pg.db, { ...fence, outcome: { type: 'succeeded' }, log: 'late' }),
};

/** Everything that a stale call could have changed. */
async function everything(job: string): Promise<string> {
  const tables = ['events', 'attempts', 'log_pieces', 'runner_reports', 'checkpoints', 'metrics'];
  const rows = await Promise.all([
    pg.sql`select * from jobs where id = ${job}`,
    ...tables.map((table) => pg.sql`select * from ${pg.sql(table)} where job_id = ${job} order by 1, 2, 3`),
  ]);
  return JSON.stringify(rows);
}

let current: Fence;
let ended: Fence;
const stale: Record<string, () => Promise<Fence> | Fence> = {
  'the attempt before': () => ({ ...current, attempt: 1 }),
  'an attempt to come': () => ({ ...current, attempt: 3 }),
  'another runner': async () => ({ ...current, runner: await insertRunner(pg.db, current.projectId) }),
  'another project': async () => ({ ...current, projectId: await insertProject(pg.db) }),
  'a job that has ended': () => ended,
  'a job that never was': () => ({ ...current, job: 'job_00000000000000000000000000' }),
};

beforeAll(async () => {
  const first = await runningJob(pg.db);
  await backdate(pg.db, first.fence.job);
  await expireLeases(pg.db);
  await backdate(pg.db, first.fence.job);
  current = (await claimAgain(pg.db, first.fence)).fence;
  const other = await runningJob(pg.db);
  const outcome = { type: 'failed', reason: 'invalid_data', message: 'x' } as const;
  await finishAttempt(pg.db, { ...other.fence, outcome, log: '' });
  ended = other.fence;
});

describe.each(Object.entries(stale))('%s', (_who, makeFence) => {
  test.each(Object.entries(calls))('%s is refused and changes nothing', async (_what, call) => {
    const fence = await makeFence();
    const before = await everything(fence.job);
    expect(await call(fence)).toBe('lease_lost');
    expect(await everything(fence.job)).toBe(before);
  });
});

test('the attempt that holds the lease passes each of them', async () => {
  expect(current.attempt).toBe(2);
  for (const call of Object.values(calls)) expect(await call(current)).not.toBe('lease_lost');
});

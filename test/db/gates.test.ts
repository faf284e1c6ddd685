// A gate that fired, in the database: what becomes of the job, and that a resume passes the gate that paused it and no other.
import { expect, test } from 'vitest';
import type { Outcome } from '../../api/contract/runner.ts';
import { claimView } from '../../api/runner/claim-view.ts';
import { cancelJob } from '../../db/queue/cancel.ts';
import { finishAttempt } from '../../db/queue/finish.ts';
import { resumeJob } from '../../db/queue/resume.ts';
import { expandSpec } from '../../api/contract/expand.ts';
import { jobSpec } from '../../api/contract/spec.ts';
import { insertJob as insertJobRow } from '../../db/jobs/insert.ts';
import { useDatabase } from '../support/postgres.ts';
import {
  claimAgain,
  insertProject,
  insertReadyDataset,
  insertRunner,
  jobRow,
  leaseMs,
  type Running,
} from './support.ts';

const pg = useDatabase();

const failedAt = (gate: number): Outcome => ({
  type: 'failed',
  reason: 'gate_failed',
  message: `gate ${gate} after sft: worse`,
  gate,
});

/** Gates 0 and 1 pause the job, gate 2 fails it. */
async function gatedJob(): Promise<Running> {
  const projectId = await insertProject(pg.db);
  const runner = await insertRunner(pg.db, projectId);
  const data = await insertReadyDataset(pg.db, projectId);
  const require = { metric: 'held.non_thinking.loss', at_least: 3 };
  const spec = {
    type: 'cascade',
    model: { init: { from: 'hf', uri: '/models/tiny' } },
    stages: [{ kind: 'sft', data }],
    evaluate: { suites: [{ name: 'held', measure: 'loss', data }] },
    gates: [
      { after: 'sft', require },
      { after: 'sft', require },
      { after: 'sft', require, otherwise: 'fail' },
    ],
    // What rewards want is not what gates want.
    rewards: { otherwise: 'fail' },
  } as const;
  const expanded = expandSpec(jobSpec.parse(spec), new Map([[data, data]]));
  await insertJobRow(pg.db, { projectId, spec: spec as never, expanded });
  return await claimAgain(pg.db, { projectId, runner });
}

const finish = ({ fence }: Running, outcome: Outcome) => finishAttempt(pg.db, { ...fence, outcome, log: '' });

const passedOf = ({ claimed }: Running): number[] => claimView(claimed, leaseMs).passed_gates;

test('a gate that pauses is passed by a resume, one after the other', async () => {
  let running = await gatedJob();
  const { projectId, job } = running.fence;
  expect(passedOf(running)).toEqual([]);
  for (const [gate, passed] of [
    [1, [1]],
    [0, [1, 0]],
    [1, [1, 0]],
  ] as const) {
    expect(await finish(running, failedAt(gate))).toEqual({ state: 'paused' });
    expect(await jobRow(pg.db, job)).toMatchObject({
      reason: 'gate_failed',
      message: `gate ${gate} after sft: worse`,
      failuresWithoutCheckpoint: 0,
    });
    expect(await resumeJob(pg.db, projectId, job)).toBe(true);
    running = await claimAgain(pg.db, running.fence);
    expect(passedOf(running)).toEqual(passed);
  }
  expect(await finish(running, { type: 'succeeded' })).toEqual({ state: 'succeeded' });
});

test('a gate that fails ends the job', async () => {
  const running = await gatedJob();
  expect(await finish(running, failedAt(2))).toEqual({ state: 'failed' });
  expect(await jobRow(pg.db, running.fence.job)).toMatchObject({ reason: 'gate_failed', passedGates: [] });
});

test('a cancel wins over a gate', async () => {
  const running = await gatedJob();
  await cancelJob(pg.db, running.fence.projectId, running.fence.job);
  expect(await finish(running, failedAt(0))).toEqual({ state: 'cancelled' });
});

test('a gate that the spec does not have is not remembered', async () => {
  const running = await gatedJob();
  await finish(running, failedAt(7));
  expect((await jobRow(pg.db, running.fence.job)).passedGates).toEqual([]);
});

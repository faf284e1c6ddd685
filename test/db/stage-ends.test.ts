// Committed ends of stages: the newest of each, of the job that is asked for and of no other; teachers of a claim.
import { expect, test } from 'vitest';
import { expandSpec } from '../../api/contract/expand.ts';
import { jobSpec } from '../../api/contract/spec.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { commitCheckpoint } from '../../db/checkpoints/commit.ts';
import { heldStageEnd, listStageEnds } from '../../db/checkpoints/stage-ends.ts';
import { insertJob as insertJobRow } from '../../db/jobs/insert.ts';
import { claimJob } from '../../db/queue/claim.ts';
import type { Fence } from '../../db/queue/fence.ts';
import { finishAttempt } from '../../db/queue/finish.ts';
import { useDatabase } from '../support/postgres.ts';
import {
  backdate,
  checkpointAt,
  claimAgain,
  insertProject,
  insertReadyDataset,
  insertRunner,
  leaseMs,
  runningJob,
} from './support.ts';

const pg = useDatabase();

type Kind = 'step' | 'stage_end' | 'final';

async function commit(fence: Fence, kind: Kind, stage_index: number, step: number): Promise<string> {
  const prefix = `jobs/${fence.job}/a${fence.attempt}/${stage_index}-${kind}-${step}/`;
  const checkpoint = { ...checkpointAt(fence, step), kind, stage_index, stage: `s${stage_index}`, prefix };
  const committed = await commitCheckpoint(pg.db, fence, checkpoint);
  if (typeof committed === 'string') throw new Error(committed);
  return committed.id;
}

test('an attempt gets the end of a stage of its own job, and no checkpoint within one', async () => {
  const { fence } = await runningJob(pg.db);
  const other = await runningJob(pg.db);
  await commit(other.fence, 'stage_end', 0, 1);
  await commit(fence, 'step', 0, 1);
  expect(await heldStageEnd(pg.db, fence, 0)).toBeUndefined();
  const first = await commit(fence, 'stage_end', 0, 2);
  await commit(fence, 'step', 1, 1);
  const last = await commit(fence, 'final', 1, 2);
  expect(await heldStageEnd(pg.db, fence, 0)).toMatchObject({ id: first, kind: 'stage_end', step: 2 });
  expect(await heldStageEnd(pg.db, fence, 1)).toMatchObject({ id: last, kind: 'final' });
  expect(await heldStageEnd(pg.db, fence, 2)).toBeUndefined();
  const ends = await listStageEnds(pg.db, fence.projectId, fence.job);
  expect(ends.map(({ id }) => id)).toEqual([first, last]);
  expect(await listStageEnds(pg.db, other.fence.projectId, fence.job)).toEqual([]);
});

test('ends that attempts before have committed are those of the job, until a later one commits its own', async () => {
  const { fence } = await runningJob(pg.db);
  const first = await commit(fence, 'stage_end', 0, 2);
  const outcome = { type: 'failed', reason: 'runner_stopped', message: 'x' } as const;
  await finishAttempt(pg.db, { ...fence, outcome, log: '' });
  await backdate(pg.db, fence.job);
  const second = await claimAgain(pg.db, fence);
  expect(await heldStageEnd(pg.db, second.fence, 0)).toMatchObject({ id: first, attempt: 1 });
  const later = await commit(second.fence, 'stage_end', 0, 2);
  expect(await heldStageEnd(pg.db, second.fence, 0)).toMatchObject({ id: later, attempt: 2 });
  expect((await listStageEnds(pg.db, fence.projectId, fence.job)).map(({ id }) => id)).toEqual([later]);
  expect(await heldStageEnd(pg.db, fence, 0)).toBe('lease_lost');
});

test('a claim carries the checkpoints that teach, of its own project, each once', async () => {
  const projectId = await insertProject(pg.db);
  const runner = await insertRunner(pg.db, projectId);
  const data = await insertReadyDataset(pg.db, projectId);
  const made = await runningJob(pg.db);
  const [ours, theirs] = [await commit(made.fence, 'step', 0, 1), await commit(made.fence, 'final', 0, 2)];
  await pg.sql`update checkpoints set project_id = ${projectId} where id = ${ours}`;
  const teachers = [ours, ours, theirs, { uri: '/models/b' }];
  const domains = teachers.map((teacher, index) => ({ domain: `d${index}`, data, teacher }));
  const spec = {
    type: 'distill',
    model: { init: { from: 'hf', uri: '/models/tiny' } },
    stage: { kind: 'distill', steps: 1, domains },
  } as JobSpecInput;
  const expanded = expandSpec(jobSpec.parse(spec), new Map([[data, data]]));
  await insertJobRow(pg.db, { projectId, spec, expanded });
  const claimed = await claimJob(pg.db, { projectId, runner, leaseMs });
  if (claimed === undefined || claimed === 'unknown_runner') throw new Error('nothing was claimed');
  expect(claimed.teachers.map(({ id }) => id)).toEqual([ours]);
  expect(claimed.datasets.map(({ id }) => id)).toEqual([data]);
});

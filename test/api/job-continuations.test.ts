// Retry and fork over HTTP: a new job, the old one untouched; what it begins from, what it takes over, what is refused.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from '../../api/client.ts';
import type { JobDetail } from '../../api/contract/job.ts';
import { attemptCalls } from '../../runner/supervisor/calls.ts';
import { jobRow } from '../db/support.ts';
import type { Fenced } from './support.ts';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
beforeAll(() => registerDatasets(api.client()));
// A queue of one's own.
beforeEach(async () => {
  await api.database.sql`update jobs set state = 'cancelled' where state in ('queued', 'paused')`;
});

const client = () => api.client();
const sha256 = 'a'.repeat(64);

/** `at` names stage and kind, such as "0 stage_end". */
async function commit(fence: Fenced, at: string, step = 2): Promise<string> {
  const [stage, kind] = at.split(' ') as [string, 'step' | 'stage_end' | 'final'];
  const { job, attempt } = fence;
  const checkpoint = {
    ...{ stage: ['sft', 'math'][Number(stage)] ?? 'late', stage_index: Number(stage), step, kind },
    ...{ prefix: `jobs/${job}/a${attempt}/${stage}/step-${step}/`, manifest_sha256: sha256, size: 10 },
    files: [{ name: 'model.safetensors', size: 10, sha256 }],
  };
  return (await client().runner.checkpoint({ ...fence, checkpoint })).id;
}

const failure = { type: 'failed', reason: 'diverged', message: 'the loss is not finite' } as const;

/** A job that committed what `at` names, and then failed; unless it is still to run. */
async function ran(at: readonly string[], end = true, more: Record<string, unknown> = {}) {
  const { id } = await client().createJob(spec(more));
  const { fence } = await claimOne(client());
  const checkpoints: string[] = [];
  for (const [index, one] of at.entries()) checkpoints.push(await commit(fence, one, index + 1));
  if (end) await client().runner.finish({ ...fence, outcome: failure });
  return { id, fence, checkpoints };
}

async function refused(calling: Promise<unknown>): Promise<ApiError> {
  const error = await calling.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

const everything = async (job: string) => JSON.stringify(await jobRow(api.database.db, job));

describe('retry', () => {
  test('a new job with the same spec, from the last checkpoint; the old row stays as it was', async () => {
    const { id, checkpoints } = await ran(['0 step', '0 stage_end', '1 step']);
    const [before, old] = [await everything(id), await client().job(id)];
    const job = await client().retryJob(id);
    expect(job).toMatchObject({
      ...{ state: 'queued', attempt: 0, reason: null, retry_of: id, fork_of: null },
      ...{ began_from: checkpoints[2], last_checkpoint: checkpoints[2] },
      ...{ spec: old.spec, expanded: old.expanded, spec_version: old.spec_version, labels: old.labels },
    });
    expect(job.id).not.toBe(id);
    expect(await everything(id)).toBe(before);
    const { claim, runner } = await claimOne(client());
    expect(claim).toMatchObject({
      job: job.id,
      attempt: 1,
      spec: old.expanded,
      resume: { id: checkpoints[2] },
    });
    // Ends of stages of the job before are its own, as far as it had come.
    const { stageEnd } = attemptCalls(client().runner, runner, claim);
    expect((await stageEnd(0))?.id).toBe(checkpoints[1]);
    expect(await stageEnd(1)).toBeNull();
  });

  test('a retry of a retry that kept nothing begins where that one did', async () => {
    const { id, checkpoints } = await ran(['0 stage_end']);
    const first = await client().retryJob(id);
    await client().cancelJob(first.id);
    const second = await client().retryJob(first.id);
    expect(second).toMatchObject({ retry_of: first.id, began_from: checkpoints[0] });
    const { claim, runner } = await claimOne(client());
    expect(claim.job).toBe(second.id);
    expect((await attemptCalls(client().runner, runner, claim).stageEnd(0))?.id).toBe(checkpoints[0]);
  });

  test('one without a checkpoint begins anew', async () => {
    const { id } = await ran([]);
    expect(await client().retryJob(id)).toMatchObject({
      retry_of: id,
      began_from: null,
      last_checkpoint: null,
    });
    expect((await claimOne(client())).claim.resume).toBeNull();
  });

  test('specs of another version are taken over with it, and see no new defaults', async () => {
    const { id } = await ran([]);
    await api.database.sql`
      update jobs set spec_version = 0, expanded = expanded #- '{rewards}', passed_gates = '{3}' where id = ${id}`;
    const { id: again } = await client().retryJob(id);
    const row = await jobRow(api.database.db, again);
    expect(row).toMatchObject({ specVersion: 0, passedGates: [3] });
    expect(row.expanded).not.toHaveProperty('rewards');
  });

  test('only of what has ended, of the own project, and once for each Idempotency-Key', async () => {
    const { id } = await ran(['0 step'], false);
    expect(await refused(client().retryJob(id))).toMatchObject({ status: 409, code: 'conflict' });
    await client().cancelJob(id);
    expect((await refused(client().retryJob(id))).message).toContain('its state is cancelling');
    expect(await refused(api.client(api.strangerKey).retryJob(id))).toMatchObject({ status: 404 });
    expect(await refused(api.client(api.keys.read).retryJob(id))).toMatchObject({ status: 403 });
    const { id: ended } = await ran([]);
    const once = await client().retryJob(ended, { idempotencyKey: 'again-1' });
    expect(await client().retryJob(ended, { idempotencyKey: 'again-1' })).toEqual(once);
    expect(await refused(client().retryJob(id, { idempotencyKey: 'again-1' }))).toMatchObject({
      status: 409,
    });
    expect((await client().retryJob(ended, { idempotencyKey: 'again-2' })).id).not.toBe(once.id);
  });

  test('what it needs must not have failed; a dataset that is gone is told', async () => {
    const needed = await client().createJob(spec());
    const { id } = await client().createJob(spec({ needs: [needed.id] }));
    await client().cancelJob(needed.id);
    const error = await refused(client().retryJob(id));
    expect(error).toMatchObject({ status: 409, code: 'conflict' });
    expect(error.message).toContain(`job ${needed.id} is cancelled`);
    await client().createDataset(
      { name: 'gone', kind: 'sft' },
      '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n',
    );
    const { id: job } = await ran([], true, {
      stages: [{ kind: 'sft', data: 'gone', steps: 2 }],
      evaluate: {},
    });
    const [dataset] = (await jobRow(api.database.db, job)).datasetIds;
    await client().deleteDataset(dataset!);
    expect((await refused(client().retryJob(job))).message).toContain(
      `dataset ${dataset} of job ${job} is gone`,
    );
  });
});

describe('fork', () => {
  const late = {
    kind: 'math',
    name: 'late',
    data: 'math',
    steps: 3,
    max_response: 8,
    grader: { type: 'exact' },
  };

  test('the stages that followed, as they stood, from the end of a stage; of a job that still runs, too', async () => {
    const { id, checkpoints } = await ran(['0 step', '0 stage_end', '1 step'], false);
    const old = await client().job(id);
    const job = await client().forkJob(id, { stage: 'sft' });
    expect(job).toMatchObject({
      ...{ state: 'queued', retry_of: null, fork_of: id, began_from: checkpoints[1] },
      ...{ spec: old.spec, expanded: old.expanded },
    });
    const { claim } = await claimOne(client(), 'runner-2');
    expect(claim).toMatchObject({ job: job.id, resume: { id: checkpoints[1], kind: 'stage_end' } });
    expect((await client().job(id)).state).toBe('running');
  });

  test('other stages, and other settings by a merge patch', async () => {
    const { id } = await ran(['0 stage_end']);
    const old = await client().job(id);
    const job: JobDetail = await client().forkJob(id, {
      stage: 'sft',
      stages: [late],
      spec: { name: 'other', seed: 9, labels: { team: 'b' }, evaluate: null },
    });
    expect(job.expanded.stages.map(({ name }) => name)).toEqual(['sft', 'late']);
    expect(job.expanded.stages[0]).toEqual(old.expanded.stages[0]);
    expect(job).toMatchObject({ name: 'other', labels: { team: 'b' } });
    expect(job.expanded).toMatchObject({ seed: 9, evaluate: { suites: [] } });
    expect(job.spec).toMatchObject({ seed: 9, stages: [{ kind: 'sft' }, { name: 'late' }] });
    // The client fills in defaults; the row has none.
    expect((await jobRow(api.database.db, job.id)).spec).not.toHaveProperty('evaluate');
  });

  test('after the last stage with what is to follow; a fork of the fork finds the ends of both', async () => {
    const { id, checkpoints } = await ran(['0 stage_end', '1 final']);
    const job = await client().forkJob(id, { stage: 'math', stages: [late] });
    expect(job.began_from).toBe(checkpoints[1]);
    const { fence } = await claimOne(client());
    const end = await commit(fence, '2 final');
    await client().runner.finish({ ...fence, outcome: { type: 'succeeded' } });
    const third = await client().forkJob(job.id, { stage: 'late', stages: [{ ...late, name: 'later' }] });
    expect(third).toMatchObject({ fork_of: job.id, began_from: end });
    const { claim, runner } = await claimOne(client());
    const { stageEnd } = attemptCalls(client().runner, runner, claim);
    const ends = [await stageEnd(0), await stageEnd(1), await stageEnd(2), await stageEnd(3)];
    expect(ends.map((one) => one?.id)).toEqual([...checkpoints, end, undefined]);
    // From an earlier stage, what came after it is not its own.
    await client().cancelJob(third.id);
    await client().runner.finish({ runner, job: claim.job, attempt: 1, outcome: { type: 'cancelled' } });
    const early = await client().forkJob(job.id, { stage: 'sft' });
    expect(early.began_from).toBe(checkpoints[0]);
    const held = await claimOne(client());
    expect(held.claim.job).toBe(early.id);
    const calls = attemptCalls(client().runner, held.runner, held.claim);
    expect([(await calls.stageEnd(0))?.id, await calls.stageEnd(1)]).toEqual([checkpoints[0], null]);
  });

  const wrong: Record<string, [Record<string, unknown>, string, RegExp]> = {
    'a stage that is none': [{ stage: 'code' }, '/stage', /no stage code: sft, math/],
    'nothing that follows': [{ stage: 'math' }, '/stages', /nothing follows stage math/],
    'another model': [{ stage: 'sft', spec: { model: null } }, '/spec/model', /keeps the model/],
    'stages in the patch': [{ stage: 'sft', spec: { stages: [] } }, '/spec/stages', /keeps the stages/],
    'a setting that there is not': [{ stage: 'sft', spec: { colour: 1 } }, '/colour', /.*/],
    'a stage that is not one': [{ stage: 'sft', stages: [{ kind: 'x' }] }, '/stages/1/kind', /.*/],
    'a name taken twice': [{ stage: 'sft', stages: [{ ...late, name: 'sft' }] }, '/stages', /unique/],
    'a dataset that there is not': [
      { stage: 'sft', stages: [{ ...late, data: 'no' }] },
      '/stages/1/data',
      /no dataset/,
    ],
    'a field of its own': [{ stage: 'sft', from: 'x' }, '/from', /.*/],
  };
  test.each(Object.entries(wrong))(
    '%s is refused with its place',
    async (_what, [body, pointer, message]) => {
      const { id } = await ran(['0 stage_end', '1 final']);
      const error = await refused(client().forkJob(id, body as { stage: string }));
      expect(error).toMatchObject({ status: 422, code: 'invalid_spec', issues: [{ pointer }] });
      expect(error.issues[0]!.message).toMatch(message);
    },
  );

  test('an end that is not committed, a job with one stage', async () => {
    const { id } = await ran(['0 step']);
    const error = await refused(client().forkJob(id, { stage: 'sft' }));
    expect(error).toMatchObject({ status: 409, code: 'conflict' });
    expect(error.message).toContain('has not committed the end of stage sft');
    const single = await client().createJob({
      ...{ type: 'sft', model: spec().model, stage: { kind: 'sft', data: 'sft', steps: 1 } },
    });
    const { fence } = await claimOne(client());
    await commit(fence, '0 final');
    const more = await refused(client().forkJob(single.id, { stage: 'sft', stages: [late] }));
    expect(more.issues).toMatchObject([{ pointer: '/stages' }]);
  });

  test('once for each Idempotency-Key, and for those who may submit', async () => {
    const { id } = await ran(['0 stage_end']);
    const fork = { stage: 'sft' };
    const once = await client().forkJob(id, fork, { idempotencyKey: 'fork-1' });
    expect(await client().forkJob(id, fork, { idempotencyKey: 'fork-1' })).toEqual(once);
    const other = client().forkJob(id, { ...fork, stages: [late] }, { idempotencyKey: 'fork-1' });
    expect(await refused(other)).toMatchObject({ status: 409, code: 'idempotency_conflict' });
    expect(await refused(api.client(api.keys.read).forkJob(id, fork))).toMatchObject({ status: 403 });
    expect(await refused(api.client(api.strangerKey).forkJob(id, fork))).toMatchObject({ status: 404 });
  });
});

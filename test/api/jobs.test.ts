// Jobs over HTTP: posting, listing, getting, cancelling, and posting once however often it is sent.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Job, JobDetail } from '../../api/contract/job.ts';
import type { Problem } from '../../api/contract/problem.ts';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
beforeAll(() => registerDatasets(api.client()));

const post = (json: unknown, init: RequestInit = {}) => api.request('POST', '/v1/jobs', { json, ...init });
const bodyOf = async <T>(response: Response | Promise<Response>): Promise<T> =>
  (await (await response).json()) as T;

describe('posting a job', () => {
  test('201 with its location, the spec as posted and expanded', async () => {
    const posted = spec();
    const response = await post(posted);
    expect(response.status).toBe(201);
    const job = await bodyOf<JobDetail>(response);
    expect(response.headers.get('location')).toBe(`/v1/jobs/${job.id}`);
    expect(job).toMatchObject({ state: 'queued', type: 'cascade', attempt: 0, spec: posted });
    expect(job.expanded.stages.map((stage) => stage.name)).toEqual(['sft', 'math']);
    expect(job.expanded.stages.every((stage) => 'data' in stage && stage.data.startsWith('ds_'))).toBe(true);
    expect(await bodyOf(api.request('GET', `/v1/jobs/${job.id}`))).toEqual(job);
  });

  test('a dataset may be named by id', async () => {
    const { data } = await api.client().datasets();
    const math = data.find((one) => one.name === 'math');
    const sft = { type: 'sft', stages: undefined, stage: { kind: 'sft', data: 'sft' }, evaluate: undefined };
    expect(
      (await post(spec({ stages: [{ kind: 'math', data: math?.id, steps: 1, max_response: 8 }] }))).status,
    ).toBe(201);
    expect((await post(spec(sft))).status).toBe(201);
  });

  test('422 names every fault with its place', async () => {
    const response = await post(
      spec({
        sed: 1,
        stages: [
          { kind: 'math', data: 'math', steps: 0 },
          { kind: 'sft', data: 'sft', lr: 'x' },
        ],
      }),
    );
    expect(response.status).toBe(422);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    const problem = await bodyOf<Problem>(response);
    expect(problem.code).toBe('invalid_spec');
    expect(problem.issues?.map((issue) => issue.pointer).sort()).toEqual([
      '/sed',
      '/stages/0/steps',
      '/stages/1/lr',
    ]);
  });

  test.each([
    ['steps', { kind: 'math', data: 'math', steps: 3e9 }],
    ['temperature', { kind: 'math', data: 'math', steps: 1, temperature: 1e-40 }],
    ['rollouts', { kind: 'math', data: 'math', steps: 1, rollouts: 1e6 }],
    ['batch', { kind: 'sft', data: 'sft', batch: 1e9 }],
    ['epochs', { kind: 'sft', data: 'sft', epochs: 1e300 }],
  ])('422 for %s that no runner could keep to', async (field, stage) => {
    const response = await post(spec({ stages: [stage] }));
    expect(response.status).toBe(422);
    const { issues } = await bodyOf<Problem>(response);
    expect(issues?.map((issue) => issue.pointer)).toEqual([`/stages/0/${field}`]);
  });

  test('422 names references that do not hold: missing, of the wrong kind, broken', async () => {
    await api.client().createDataset({ name: 'broken', kind: 'math' }, '{"prompt":1}');
    const stages = [
      { kind: 'math', name: 'a', data: 'none', steps: 1 },
      { kind: 'math', name: 'b', data: 'sft', steps: 1 },
      { kind: 'math', name: 'c', data: 'broken', steps: 1 },
    ];
    const init = { from: 'checkpoint', checkpoint: 'ckpt_01234567890123456789012345' };
    const problem = await bodyOf<Problem>(post(spec({ stages, model: { init }, evaluate: undefined })));
    expect(problem.issues?.map((issue) => issue.pointer)).toEqual([
      '/stages/0/data',
      '/stages/1/data',
      '/stages/2/data',
      '/model/init/checkpoint',
    ]);
  });

  test('422 where the checkpoint to begin with holds adapters alone', async () => {
    const client = api.client();
    await client.createJob(spec({ priority: 100 }));
    const { claim, fence } = await claimOne(client);
    const commit = async (kind: 'step' | 'stage_end', ...names: string[]) => {
      const files = names.map((name) => ({ name, size: 1, sha256: 'a'.repeat(64) }));
      const prefix = `jobs/${claim.job}/a${claim.attempt}/${kind}/`;
      const at = { stage: 'sft', stage_index: 0, step: kind === 'step' ? 1 : 2, kind, prefix };
      const checkpoint = { ...at, manifest_sha256: 'b'.repeat(64), size: files.length, files };
      return (await client.runner.checkpoint({ ...fence, checkpoint })).id;
    };
    const adapter = 'adapter/adapter_model.safetensors';
    const alone = await commit('step', adapter, 'config.json');
    const begin = (checkpoint: string) => post(spec({ model: { init: { from: 'checkpoint', checkpoint } } }));
    const problem = await bodyOf<Problem>(begin(alone));
    expect(problem.issues).toMatchObject([
      {
        pointer: '/model/init/checkpoint',
        message: expect.stringContaining(`${alone} holds adapters alone`),
      },
    ]);
    const whole = await commit('stage_end', adapter, 'model.safetensors.index.json');
    expect(await bodyOf<object>(begin(whole))).toMatchObject({ state: 'queued' });
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  });

  test('the same Idempotency-Key gives the first answer, however many come at once; another body is refused', async () => {
    const headers = { 'idempotency-key': 'once' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post(spec({ name: 'once' }), { headers })),
    );
    const ids = await Promise.all(answers.map(async (answer) => (await bodyOf<Job>(answer)).id));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(new Set(ids).size).toBe(1);
    const other = await post(spec({ name: 'other' }), { headers });
    expect(other.status).toBe(409);
    expect((await bodyOf<Problem>(other)).code).toBe('idempotency_conflict');
  });

  test('a refused request does not use up its Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'again' };
    const stages = [{ kind: 'math', data: 'none', steps: 1 }];
    expect((await post(spec({ stages }), { headers })).status).toBe(422);
    expect((await post(spec(), { headers })).status).toBe(201);
  });
});

describe('listing jobs', () => {
  test('newest first, page after page, forwards and back; filtered by state, type and label', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++)
      ids.unshift((await bodyOf<Job>(post(spec({ labels: { list: 'yes' }, name: `n${i}` })))).id);
    const client = api.client();
    const seen: string[] = [];
    for await (const job of client.all((query) => client.jobs({ ...query, label: 'list:yes', limit: 2 })))
      seen.push(job.id);
    expect([...seen].sort()).toEqual([...ids].sort());
    const back = await client.jobs({ label: 'list:yes', limit: 2, before: seen[3] });
    expect(back.data.map((job) => job.id)).toEqual(seen.slice(1, 3));
    expect(back.has_more).toBe(true);
    expect((await client.jobs({ type: 'sft', label: 'list:yes' })).data).toEqual([]);
    expect((await client.jobs({ state: 'queued', label: 'list:yes' })).data).toHaveLength(5);
  });
});

describe('cancelling', () => {
  test('a queued job at once, again without effect; a running one by its runner; an ended one not', async () => {
    const client = api.client();
    const queued = await client.createJob(spec({ priority: 50 }));
    expect((await client.cancelJob(queued.id)).state).toBe('cancelled');
    expect((await client.cancelJob(queued.id)).state).toBe('cancelled');

    const running = await client.createJob(spec({ priority: 51 }));
    const { claim, fence } = await claimOne(client);
    expect(claim.job).toBe(running.id);
    expect((await client.cancelJob(running.id)).state).toBe('cancelling');
    expect((await client.runner.heartbeat(fence)).action).toBe('cancel');
    expect(await client.runner.finish({ ...fence, outcome: { type: 'cancelled' } })).toEqual({
      state: 'cancelled',
    });

    const ended = await client.createJob(spec({ priority: 52 }));
    const second = await claimOne(client);
    await client.runner.finish({ ...second.fence, outcome: { type: 'succeeded' } });
    const answer = await api.request('POST', `/v1/jobs/${ended.id}/cancel`);
    expect(answer.status).toBe(409);
    expect((await bodyOf<Problem>(answer)).code).toBe('conflict');
  });
});

describe('pausing', () => {
  test('a queued job at once, again without effect; resumed it is queued; an ended one not', async () => {
    const client = api.client();
    const { id } = await client.createJob(spec({ priority: 55 }));
    expect(await client.pauseJob(id)).toMatchObject({ state: 'paused', reason: null, attempt: 0 });
    expect((await client.pauseJob(id)).state).toBe('paused');
    expect((await client.resumeJob(id)).state).toBe('queued');
    await client.cancelJob(id);
    const answer = await api.request('POST', `/v1/jobs/${id}/pause`);
    expect(answer.status).toBe(409);
    expect(await bodyOf<Problem>(answer)).toMatchObject({
      code: 'conflict',
      detail: `job ${id} cannot be paused: its state is cancelled`,
    });
  });

  test('a running one by its runner; not resumed before; then by any runner, from what was kept', async () => {
    const client = api.client();
    const { id } = await client.createJob(spec({ priority: 56 }));
    const { fence } = await claimOne(client);
    expect((await client.pauseJob(id)).state).toBe('pausing');
    expect((await client.pauseJob(id)).state).toBe('pausing');
    expect((await client.runner.heartbeat(fence)).action).toBe('pause');
    const early = await api.request('POST', `/v1/jobs/${id}/resume`);
    expect(early.status).toBe(409);
    expect(await bodyOf<Problem>(early)).toMatchObject({ code: 'still_pausing' });
    expect(await client.runner.finish({ ...fence, outcome: { type: 'paused' } })).toEqual({
      state: 'paused',
    });
    expect((await client.resumeJob(id)).state).toBe('queued');
    const { claim, fence: next } = await claimOne(client);
    expect([claim.job, claim.attempt]).toEqual([id, 2]);
    await client.runner.finish({ ...next, outcome: { type: 'succeeded' } });
    const { data } = await client.eventsPage(id, { limit: 1000 });
    expect(data.map(({ body }) => body).filter(({ type }) => type === 'attempt_failed')).toEqual([]);
  });

  test('a runner that knows no pause goes on to the end; the job succeeds', async () => {
    const client = api.client();
    const { id } = await client.createJob(spec({ priority: 57 }));
    const { fence } = await claimOne(client);
    await client.pauseJob(id);
    for (let beat = 0; beat < 3; beat++) expect((await client.runner.heartbeat(fence)).action).toBe('pause');
    await client.runner.report({ ...fence, sequence: 1, entries: [] });
    expect(await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } })).toEqual({
      state: 'succeeded',
    });
    expect((await client.job(id)).reason).toBeNull();
  });

  test('a cancel of a job that is pausing wins', async () => {
    const client = api.client();
    const { id } = await client.createJob(spec({ priority: 58 }));
    const { fence } = await claimOne(client);
    await client.pauseJob(id);
    expect((await client.cancelJob(id)).state).toBe('cancelling');
    expect((await api.request('POST', `/v1/jobs/${id}/pause`)).status).toBe(409);
    expect((await client.runner.heartbeat(fence)).action).toBe('cancel');
    expect(await client.runner.finish({ ...fence, outcome: { type: 'paused' } })).toEqual({
      state: 'cancelled',
    });
  });
});

describe('an outage of the rewards', () => {
  const outage = { type: 'failed', reason: 'reward_unavailable', message: 'no sandbox for 30m' } as const;

  test('pauses the job with its reason; resumed it is claimed again from its checkpoint; only a paused one resumes', async () => {
    const client = api.client();
    const { id } = await client.createJob(spec({ priority: 60 }));
    const { fence, runner } = await claimOne(client);
    expect(await client.runner.finish({ ...fence, outcome: outage })).toEqual({ state: 'paused' });
    expect(await client.job(id)).toMatchObject({ reason: 'reward_unavailable', message: outage.message });

    expect(await client.resumeJob(id)).toMatchObject({ state: 'queued', reason: null, message: null });
    expect((await client.resumeJob(id)).state).toBe('queued');
    const { claim } = await client.runner.claim({ runner });
    expect(claim).toMatchObject({ job: id, attempt: 2 });
    expect((await client.resumeJob(id)).state).toBe('running');
    await client.runner.finish({ ...fence, attempt: 2, outcome: { type: 'succeeded' } });
    const answer = await api.request('POST', `/v1/jobs/${id}/resume`);
    expect(answer.status).toBe(409);
    expect((await bodyOf<Problem>(answer)).detail).toContain('not paused: its state is succeeded');
  });

  test('fails the job where the spec says so', async () => {
    const client = api.client();
    await client.createJob(spec({ priority: 61, rewards: { otherwise: 'fail' } }));
    const { fence } = await claimOne(client);
    expect(await client.runner.finish({ ...fence, outcome: outage })).toEqual({ state: 'failed' });
  });
});

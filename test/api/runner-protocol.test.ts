// The runner protocol over HTTP: what a claim carries, what reports leave behind, and that a runner which has lost
// its lease, or names what is not its own, changes nothing.
import { beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../api/app.ts';
import type { Client } from '../../api/client.ts';
import type { Problem } from '../../api/contract/problem.ts';
import { openStore } from '../../store/open.ts';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
beforeAll(() => registerDatasets(api.client()));

const problemOf = async (response: Response): Promise<Problem> => (await response.json()) as Problem;
const sha256 = 'a'.repeat(64);

const commit = (fence: { job: string; attempt: number }, step = 1) => ({
  stage: 'sft',
  stage_index: 0,
  step,
  kind: 'step' as const,
  prefix: `jobs/${fence.job}/a${fence.attempt}/0-sft/step-${step}/`,
  manifest_sha256: sha256,
  size: 12,
  files: [
    { name: 'model.safetensors', size: 10, sha256 },
    { name: 'trainer/state.json', size: 2, sha256 },
  ],
});

const samplesEntry = (key: string) => ({
  type: 'samples' as const,
  stage: 'math',
  phase: 0,
  step: 1,
  key,
  rows: [1, 0].map((line) => ({
    line,
    task: line,
    rollout: 0,
    mode: 'non_thinking' as const,
    status: 'scored' as const,
    reward: line,
  })),
});

const sampleLine = (task: number) =>
  JSON.stringify({
    stage: 'math',
    step: 1,
    task,
    rollout: 0,
    mode: 'non_thinking',
    prompt: '1+1=',
    response: `answer ${task}`,
    tokens: 3,
    truncated: false,
    status: 'scored',
    reward: task,
    parts: {},
    advantage: 0.5,
  });

describe('register and claim', () => {
  test('a runner keeps its id when it registers again, and is listed', async () => {
    const client = api.client(api.keys.runner);
    const properties = {
      protocol: 1,
      name: 'gpu-1',
      accelerator: 'cuda' as const,
      memory_gb: 80,
      labels: { zone: 'a' },
      version: '1',
    };
    const first = await client.runner.register(properties);
    expect(first).toMatchObject({ heartbeat_ms: 2_000, lease_ms: 30_000 });
    expect((await client.runner.register({ ...properties, version: '2' })).runner).toBe(first.runner);
    const listed = (await api.client(api.keys.read).runners()).data.find((one) => one.id === first.runner);
    expect(listed).toMatchObject({ name: 'gpu-1', version: '2', labels: { zone: 'a' }, alive: true });
  });

  test('another protocol version is refused by name, whatever else the body holds', async () => {
    const response = await api.request('POST', '/v1/runner/register', {
      json: { protocol: 2, colour: 'blue' },
      key: api.keys.runner,
    });
    expect(response.status).toBe(426);
    const problem = await problemOf(response);
    expect(problem.code).toBe('protocol_mismatch');
    expect(problem.detail).toMatch(/protocol 2.*speaks 1/);
  });

  test('a claim carries spec, datasets with their keys, and null when there is nothing', async () => {
    const client = api.client();
    const job = await client.createJob(spec({ priority: 10 }));
    const { claim, runner, fence } = await claimOne(client);
    expect(claim).toMatchObject({
      job: job.id,
      attempt: 1,
      spec: job.expanded,
      init: null,
      resume: null,
      lease_ms: 30_000,
    });
    expect(claim.datasets.map((one) => one.kind).sort()).toEqual(['math', 'sft']);
    for (const { key, size } of claim.datasets) expect((await api.store.head(key))?.size).toBe(size);
    expect(await client.runner.claim({ runner })).toEqual({ claim: null });
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  });

  test('an unknown runner is 404', async () => {
    const json = { runner: 'run_00000000000000000000000000' };
    expect((await api.request('POST', '/v1/runner/claim', { json })).status).toBe(404);
  });
});

describe('an attempt', () => {
  test('reports once however often sent; metrics, evaluations, samples and log can be read', async () => {
    const client = api.client();
    const { id } = await client.createJob(spec({ priority: 20 }));
    const { fence } = await claimOne(client);
    const key = `jobs/${fence.job}/a1/samples/1-math-1.jsonl`;
    await api.store.put(key, new TextEncoder().encode(`${sampleLine(0)}\n${sampleLine(1)}\n`));
    const cell = {
      suite: 'sums',
      domain: 'sums',
      mode: 'non_thinking' as const,
      metric: 'avg@1',
      value: 0.5,
      low: 0.1,
      high: 0.9,
      tasks: 2,
    };
    const report = {
      ...fence,
      sequence: 1,
      log: 'one\n\u0000two\ud800\n',
      entries: [
        { type: 'step' as const, stage: 'math', phase: 0, step: 1, metrics: { reward: 0.25, loss: null } },
        { type: 'evaluation' as const, after: 'initial', cells: [{ ...cell, values: [0, 1] }] },
        samplesEntry(key),
      ],
    };
    expect(await client.runner.report(report)).toEqual({ applied: true });
    const events = (await client.eventsPage(id)).data.length;
    expect(await client.runner.report(report)).toEqual({ applied: false });
    expect((await client.eventsPage(id)).data).toHaveLength(events);

    expect((await client.metrics(id)).data.map(({ key: name, value }) => [name, value])).toEqual([
      ['loss', null],
      ['reward', 0.25],
    ]);
    expect(
      (await client.metrics(id, { key: 'reward', stage: 'math', mode: 'non_thinking' })).data,
    ).toHaveLength(1);
    const points: string[] = [];
    for await (const point of client.all((query) => client.metrics(id, { ...query, limit: 1 })))
      points.push(point.key);
    expect(points).toEqual(['loss', 'reward']);
    const halves = {
      ...{ type: 'step' as const, stage: 'rlhf', phase: 0, step: 1, mode: 'half_half' as const },
      metrics: { reward: 0.5 },
      modes: { thinking: { reward: 0.75 }, non_thinking: { reward: 0.25 } },
    };
    await client.runner.report({ ...fence, sequence: 2, log: '', entries: [halves] });
    const byMode: [string, number | null][] = [];
    for await (const { mode, value } of client.all((query) =>
      client.metrics(id, { ...query, stage: 'rlhf', limit: 1 }),
    ))
      byMode.push([mode, value]);
    expect(byMode).toEqual([
      ['half_half', 0.5],
      ['non_thinking', 0.25],
      ['thinking', 0.75],
    ]);
    expect((await client.metrics(id, { stage: 'rlhf', mode: 'half_half' })).data).toHaveLength(1);
    const shown = { ...cell, after: 'initial', step: null, attempt: 1 };
    expect((await client.evaluations(id)).data).toEqual([shown]);
    expect((await client.evaluations(id, { values: true })).data).toEqual([{ ...shown, values: [0, 1] }]);
    expect((await api.request('GET', `/v1/jobs/${id}/evaluations?values=some`)).status).toBe(400);
    const samples = (await client.samples(id, { stage: 'math', step: 1 })).data;
    expect(samples.map(({ task, response }) => [task, response]).sort()).toEqual([
      [0, 'answer 0'],
      [1, 'answer 1'],
    ]);
    expect((await client.samples(id, { step: 2 })).data).toEqual([]);
    expect(await client.logs(id)).toBe('one\n\uFFFDtwo\uFFFD\n');
    expect(await client.logs(id, { attempt: 1 })).toContain('one');
    expect((await api.request('GET', `/v1/jobs/${id}/logs?attempt=9`)).status).toBe(404);

    expect(
      (
        await client.runner.heartbeat({
          ...fence,
          progress: { stage: 'math', stage_index: 1, stages: 2, step: 1, steps: 2 },
        })
      ).action,
    ).toBe('continue');
    expect((await client.job(id)).progress?.step).toBe(1);
    expect(await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } })).toEqual({
      state: 'succeeded',
    });
    expect(await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } })).toEqual({
      state: 'succeeded',
    });
  });

  /** A running job with a committed checkpoint whose files are in the store. */
  async function committedCheckpoint(client: Client) {
    const { id } = await client.createJob(spec({ priority: 30 }));
    const { fence } = await claimOne(client);
    const checkpoint = commit(fence);
    await api.store.put(`${checkpoint.prefix}model.safetensors`, new TextEncoder().encode('0123456789'));
    await api.store.put(`${checkpoint.prefix}trainer/state.json`, new TextEncoder().encode('{}'));
    await api.store.put(`${checkpoint.prefix}manifest.json`, new TextEncoder().encode('{"m":1}'));
    return { id, fence, checkpoint, committed: await client.runner.checkpoint({ ...fence, checkpoint }) };
  }

  test('commits a checkpoint once; its files are served', async () => {
    const client = api.client();
    const { id, fence, checkpoint, committed } = await committedCheckpoint(client);
    expect(await client.runner.checkpoint({ ...fence, checkpoint })).toEqual(committed);
    const other = await api.request('POST', '/v1/runner/checkpoints', {
      json: { ...fence, checkpoint: { ...checkpoint, manifest_sha256: 'b'.repeat(64) } },
    });
    expect([other.status, (await problemOf(other)).code]).toEqual([409, 'conflict']);

    expect((await client.checkpoints(id)).data.map((one) => one.id)).toEqual([committed.id]);
    expect(await client.checkpoint(committed.id)).toMatchObject({ ...checkpoint, job: id, attempt: 1 });
    expect(await (await client.checkpointFile(committed.id, 'model.safetensors')).text()).toBe('0123456789');
    expect(await (await client.checkpointFile(committed.id, 'trainer/state.json')).text()).toBe('{}');
    expect(
      await (await api.request('GET', `/v1/checkpoints/${committed.id}/files/trainer/state.json`)).text(),
    ).toBe('{}');
    expect(await (await client.checkpointFile(committed.id, 'manifest.json')).text()).toBe('{"m":1}');
    for (const name of ['none.bin', '..%2F..%2Frows.jsonl', '../x', 'trainer/..%2fmodel.safetensors'])
      expect((await api.request('GET', `/v1/checkpoints/${committed.id}/files/${name}`)).status).toBe(404);
    expect(
      (
        await api.request('GET', `/v1/checkpoints/${committed.id}/files/model.safetensors`, {
          key: api.strangerKey,
        })
      ).status,
    ).toBe(404);
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  });

  test('serves parts of a checkpoint’s file, and its address where the store signs', async () => {
    const client = api.client();
    const { fence, checkpoint, committed } = await committedCheckpoint(client);
    const part = async (range: string) => {
      const path = `/v1/checkpoints/${committed.id}/files/model.safetensors`;
      const answer = await api.request('GET', path, { headers: { range } });
      return [
        answer.status,
        answer.headers.get('content-range'),
        answer.status === 416 ? '' : await answer.text(),
      ];
    };
    expect(await part('bytes=4-')).toEqual([206, 'bytes 4-9/10', '456789']);
    expect(await part('bytes=2-3')).toEqual([206, 'bytes 2-3/10', '23']);
    expect(await part('bytes=8-99')).toEqual([206, 'bytes 8-9/10', '89']);
    expect(await part('bytes=10-')).toEqual([416, 'bytes */10', '']);
    for (const ignored of ['bytes=-3', 'bytes=0-1,3-4', 'bytes=5-2', 'pages=1-2', 'bytes=x-'])
      expect(await part(ignored)).toEqual([200, null, '0123456789']);

    const remote = openStore('s3://bucket/prefix', {
      S3_ENDPOINT: 'http://127.0.0.1:1',
      S3_REGION: 'none',
      S3_ACCESS_KEY_ID: 'key',
      S3_SECRET_ACCESS_KEY: 'secret',
    });
    const headers = { authorization: `Bearer ${api.keys.read}` };
    const redirect = await createApp({ db: api.database.db, store: remote }).request(
      `/v1/checkpoints/${committed.id}/files/model.safetensors`,
      { headers },
    );
    expect(redirect.status).toBe(302);
    const target = new URL(redirect.headers.get('location') ?? '');
    expect(target.pathname).toBe(`/bucket/prefix/${checkpoint.prefix}model.safetensors`);
    expect(target.searchParams.get('X-Amz-Signature')).toMatch(/^[0-9a-f]{64}$/);
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  });

  test('the next attempt resumes from a checkpoint, another job starts from it', async () => {
    const client = api.client();
    const { id, fence, checkpoint, committed } = await committedCheckpoint(client);
    const lost = { type: 'failed' as const, reason: 'runner_stopped' as const, message: 'the machine goes' };
    expect(await client.runner.finish({ ...fence, outcome: lost })).toEqual({ state: 'queued' });
    await api.database.sql`update jobs set available_at = now() - interval '1 hour' where id = ${id}`;
    const again = await claimOne(client);
    expect(again.claim).toMatchObject({
      job: id,
      attempt: 2,
      resume: { id: committed.id, prefix: checkpoint.prefix },
    });
    await client.runner.finish({ ...again.fence, outcome: { type: 'succeeded' } });

    await client.createJob(
      spec({ priority: 30, model: { init: { from: 'checkpoint', checkpoint: committed.id } } }),
    );
    const started = await claimOne(client);
    expect(started.claim).toMatchObject({ init: { id: committed.id }, resume: null });
    const ofAdapters = {
      ...commit(started.fence),
      files: [{ name: 'adapter/adapter_model.safetensors', size: 10, sha256 }],
    };
    const alone = await client.runner.checkpoint({ ...started.fence, checkpoint: ofAdapters });
    const init = { from: 'checkpoint', checkpoint: alone.id };
    const refused = await api.request('POST', '/v1/jobs', { json: spec({ model: { init } }) });
    expect(refused.status).toBe(422);
    expect((await problemOf(refused)).issues).toEqual([
      { pointer: '/model/init/checkpoint', message: expect.stringContaining('adapters alone') as unknown },
    ]);
    await client.runner.finish({ ...started.fence, outcome: { type: 'succeeded' } });
  });

  test('that has lost its lease is told so by every call, and changes nothing', async () => {
    const client = api.client();
    const { id } = await client.createJob(spec({ priority: 40 }));
    const { fence } = await claimOne(client);
    const stale = { ...fence, attempt: 7 };
    const calls: [string, object][] = [
      ['heartbeat', stale],
      ['report', { ...stale, sequence: 1, entries: [] }],
      ['checkpoints', { ...stale, checkpoint: commit(stale) }],
      ['stage-ends', { ...stale, stage_index: 0 }],
      ['finish', { ...stale, outcome: { type: 'succeeded' } }],
    ];
    const before = await client.eventsPage(id);
    for (const [path, json] of calls) {
      const response = await api.request('POST', `/v1/runner/${path}`, { json });
      expect([path, response.status, (await problemOf(response)).code]).toEqual([path, 409, 'lease_lost']);
      const theirs = await api.request('POST', `/v1/runner/${path}`, {
        json: { ...json, attempt: 1 },
        key: api.strangerKey,
      });
      expect([path, theirs.status]).toEqual([path, path === 'checkpoints' ? 422 : 409]);
    }
    expect(await client.eventsPage(id)).toEqual(before);
    expect((await client.job(id)).state).toBe('running');
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  });

  test('may name no object but its own', async () => {
    const client = api.client();
    await client.createJob(spec({ priority: 50 }));
    const { fence, claim } = await claimOne(client);
    for (const key of [
      claim.datasets[0]?.key,
      `jobs/${fence.job}/a9/x`,
      `jobs/${fence.job}/a1/../a2/x`,
      `jobs/${fence.job}/a1/`,
    ]) {
      const report = await api.request('POST', '/v1/runner/report', {
        json: { ...fence, sequence: 1, entries: [samplesEntry(key ?? '')] },
      });
      expect([key, report.status]).toEqual([key, 422]);
      expect((await problemOf(report)).issues?.[0]?.pointer).toBe('/entries/0/key');
    }
    for (const prefix of ['datasets/', `jobs/${fence.job}/a1/../../`, `jobs/${fence.job}/a1/no-slash`]) {
      const json = { ...fence, checkpoint: { ...commit(fence), prefix } };
      expect([prefix, (await api.request('POST', '/v1/runner/checkpoints', { json })).status]).toEqual([
        prefix,
        422,
      ]);
    }
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  });

  test('a shard that is gone is our own fault, and says so', async () => {
    const client = api.client();
    const { id } = await client.createJob(spec({ priority: 60 }));
    const { fence } = await claimOne(client);
    await client.runner.report({
      ...fence,
      sequence: 1,
      entries: [samplesEntry(`jobs/${fence.job}/a1/samples/gone.jsonl`)],
    });
    const response = await api.request('GET', `/v1/jobs/${id}/samples`);
    expect([response.status, (await problemOf(response)).code]).toEqual([503, 'store_unavailable']);
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  });
});

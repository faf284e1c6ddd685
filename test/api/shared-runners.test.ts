// A runner for every project, over HTTP: what its key may do, and what no other key may do in its name.
import { beforeAll, expect, test } from 'vitest';
import { registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
beforeAll(async () => {
  await registerDatasets(api.client());
  await registerDatasets(api.client(api.strangerKey));
});

const bare = { protocol: 1, accelerator: 'cpu', memory_gb: 8, version: 'test' } as const;

test('it runs the jobs of two projects to their ends; an admin of its project cannot speak for it', async () => {
  const ours = await api.client().createJob(spec());
  const theirs = await api.client(api.strangerKey).createJob(spec());
  const shared = api.client(api.keys.shared_runner).runner;
  const { runner } = await shared.register({ ...bare, name: 'everywhere' });
  const claimed: string[] = [];
  for (let n = 0; n < 2; n++) {
    const { claim } = await shared.claim({ runner });
    claimed.push(claim!.job);
    const fence = { runner, job: claim!.job, attempt: claim!.attempt };
    const entries = [{ type: 'stage_started' as const, stage: 'sft', stage_index: 0, steps: 2 }];
    for (const key of [api.keys.admin, api.keys.runner, api.strangerKey]) {
      expect((await api.request('POST', '/v1/runner/heartbeat', { key, json: fence })).status).toBe(409);
      expect((await api.request('POST', '/v1/runner/claim', { key, json: { runner } })).status).toBe(404);
    }
    expect(await shared.heartbeat(fence)).toMatchObject({ action: 'continue' });
    expect(await shared.report({ ...fence, sequence: 1, entries, log: 'x' })).toEqual({ applied: true });
    expect(await shared.stageEnd({ ...fence, stage_index: 0 })).toEqual({ checkpoint: null });
    expect(await shared.finish({ ...fence, outcome: { type: 'succeeded' } })).toEqual({ state: 'succeeded' });
  }
  expect(claimed.sort()).toEqual([ours.id, theirs.id].sort());
  expect(await api.client(api.strangerKey).job(theirs.id)).toMatchObject({
    state: 'succeeded',
    runner: null,
  });
  expect((await shared.claim({ runner })).claim).toBeNull();
});

test('its key sees no job, and its name is its own', async () => {
  const key = api.keys.shared_runner;
  expect((await api.request('GET', '/v1/jobs', { key })).status).toBe(403);
  expect((await api.request('POST', '/v1/jobs', { key, json: spec() })).status).toBe(403);
  await api.client(key).runner.register({ ...bare, name: 'taken' });
  const other = api.client(api.keys.runner).runner.register({ ...bare, name: 'taken' });
  await expect(other).rejects.toMatchObject({ status: 409, code: 'conflict' });
});

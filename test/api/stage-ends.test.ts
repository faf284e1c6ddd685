// Ends of stages over the runner protocol, as the runner's own call asks for them. What a runner without the lease is told stands in
// runner-protocol.test.ts, which end is the newest in db/stage-ends.test.ts.
import { beforeAll, expect, test } from 'vitest';
import type { Problem } from '../../api/contract/problem.ts';
import { attemptCalls } from '../../runner/supervisor/calls.ts';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';

const api = useApi();
beforeAll(() => registerDatasets(api.client()));

test('an attempt gets the committed end of a stage of its own job, with all that its files are fetched by', async () => {
  const client = api.client(api.keys.runner);
  await api.client().createJob(spec());
  const { runner, claim, fence } = await claimOne(client);
  const { stageEnd } = attemptCalls(client.runner, runner, claim);
  const commit = async (kind: 'step' | 'stage_end', step: number) => {
    const checkpoint = {
      stage: 'sft',
      stage_index: 0,
      step,
      kind,
      prefix: `jobs/${fence.job}/a${fence.attempt}/0-sft/step-${step}/`,
      manifest_sha256: 'a'.repeat(64),
      size: 10,
      files: [{ name: 'model.safetensors', size: 10, sha256: 'a'.repeat(64) }],
    };
    return { ...checkpoint, ...(await client.runner.checkpoint({ ...fence, checkpoint })) };
  };
  await commit('step', 1);
  expect(await stageEnd(0)).toBeNull();
  const end = await commit('stage_end', 2);
  expect(await stageEnd(0)).toEqual(end);
  expect(await stageEnd(1)).toBeNull();

  const negative = { json: { ...fence, stage_index: -1 } };
  const refused = await api.request('POST', '/v1/runner/stage-ends', negative);
  const { issues } = (await refused.json()) as Problem;
  expect([refused.status, issues?.[0]?.pointer]).toEqual([422, '/stage_index']);
  const reader = await api.request('POST', '/v1/runner/stage-ends', {
    json: { ...fence, stage_index: 0 },
    key: api.keys.read,
  });
  expect(reader.status).toBe(403);

  await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  await expect(stageEnd(0)).rejects.toMatchObject({ code: 'lease_lost', status: 409 });
});

// Graders in posted specs: what they refer to is checked before a job is taken, and what they score with goes with the claim.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Grader } from '../../api/contract/grader.ts';
import type { Problem } from '../../api/contract/problem.ts';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';

const closed = useApi();
const open = useApi({ allowPrivateAddresses: true });
beforeAll(async () => {
  await registerDatasets(closed.client());
  await registerDatasets(open.client());
});

const withGrader = (grader: object) =>
  spec({
    stages: [{ kind: 'math', data: 'math', steps: 1, max_response: 8, filter: { type: 'off' }, grader }],
    evaluate: undefined,
  });

async function issuesOf(api: typeof closed, json: object): Promise<Problem['issues']> {
  const response = await api.request('POST', '/v1/jobs', { json });
  return response.status === 201 ? [] : ((await response.json()) as Problem).issues;
}

const remote = (url: string) => ({ type: 'remote', url });
const judge = (url: string) => ({ type: 'judge', url, model: 'm', prompt: 'yes_no' });

describe('addresses', () => {
  test.each([
    'http://127.0.0.1:8000/',
    'http://localhost/',
    'http://[::1]/',
    'http://10.1.2.3/',
    'http://0x7f.1/',
  ])('%s is private: 422 unless the service allows it', async (url) => {
    for (const grader of [remote(url), judge(url)]) {
      expect(await issuesOf(closed, withGrader(grader))).toEqual([
        {
          pointer: '/stages/0/grader/url',
          message: expect.stringMatching(/loopback.*MILLRACE_ALLOW_PRIVATE_ADDRESSES/) as unknown,
        },
      ]);
      expect(await issuesOf(open, withGrader(grader))).toEqual([]);
    }
  });

  test.each([
    'http://169.254.169.254/latest',
    'http://[fe80::1]/',
    'http://0.0.0.0/',
    'ftp://example.com/',
    'x',
  ])('%s is refused by every service', async (url) => {
    for (const api of [closed, open])
      expect(await issuesOf(api, withGrader(remote(url)))).toMatchObject([
        { pointer: '/stages/0/grader/url' },
      ]);
  });

  test('a suite’s grader is looked at too, and a public address is taken', async () => {
    const suite = (url: string) =>
      spec({ evaluate: { suites: [{ name: 's', data: 'math', grader: judge(url) }] } });
    expect(await issuesOf(closed, suite('http://10.0.0.1/v1'))).toMatchObject([
      { pointer: '/evaluate/suites/0/grader/url' },
    ]);
    expect(await issuesOf(closed, suite('https://judge.example.com/v1'))).toEqual([]);
  });

  test('secrets are named, never given', async () => {
    const secret = 'sk-0123456789abcdef';
    const posted = { ...remote('https://grader.example.com/'), secret };
    const issues = await issuesOf(closed, withGrader(posted));
    expect(issues).toMatchObject([{ pointer: '/stages/0/grader/secret' }]);
    expect(JSON.stringify(issues)).not.toContain(secret);
  });
});

describe('reward models', () => {
  test('must be checkpoints of the project that hold a model, and go with the claim', async () => {
    const client = closed.client();
    await client.createJob(spec({ priority: 90 }));
    const { claim, fence } = await claimOne(client);
    const commit = async (step: number, ...names: string[]): Promise<string> => {
      const files = names.map((name) => ({ name, size: 1, sha256: 'a'.repeat(64) }));
      const at = { stage: 'sft', stage_index: 0, step, kind: 'step' as const };
      const prefix = `jobs/${claim.job}/a${claim.attempt}/${step}/`;
      const checkpoint = { ...at, prefix, manifest_sha256: 'b'.repeat(64), size: files.length, files };
      return (await client.runner.checkpoint({ ...fence, checkpoint })).id;
    };
    const whole = await commit(1, 'model.safetensors', 'config.json');
    const adapters = await commit(2, 'adapter/adapter_model.safetensors');
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });

    const preference = (model: string) => ({ type: 'preference', model });
    const pointer = '/stages/0/grader/model';
    expect(await issuesOf(closed, withGrader(preference(`ckpt_${'0'.repeat(26)}`)))).toMatchObject([
      { pointer, message: expect.stringContaining('there is no checkpoint') as unknown },
    ]);
    expect(await issuesOf(open, withGrader(preference(whole)))).toMatchObject([{ pointer }]);
    expect(await issuesOf(closed, withGrader(preference(adapters)))).toMatchObject([
      { pointer, message: expect.stringContaining('holds adapters alone') as unknown },
    ]);

    const suites = [{ name: 's', data: 'math', grader: preference(whole) }];
    const job = await client.createJob({
      ...(withGrader(preference(whole)) as object),
      evaluate: { suites },
      priority: 90,
    } as never);
    const claimed = await claimOne(client);
    expect(claimed.claim.job).toBe(job.id);
    expect(claimed.claim.reward_models).toMatchObject([
      { id: whole, files: [{ name: 'model.safetensors' }, {}] },
    ]);
    await client.runner.finish({ ...claimed.fence, outcome: { type: 'succeeded' } });
  });

  test('go with an errand that scores with one', async () => {
    const client = closed.client();
    await client.createJob(spec({ priority: 95 }));
    const { claim, fence } = await claimOne(client);
    const files = [{ name: 'model.safetensors', size: 1, sha256: 'a'.repeat(64) }];
    const at = { stage: 'sft', stage_index: 0, step: 1, kind: 'step' as const };
    const checkpoint = {
      ...at,
      prefix: `jobs/${claim.job}/a${claim.attempt}/1/`,
      manifest_sha256: 'b'.repeat(64),
      size: 1,
      files,
    };
    const { id } = await client.runner.checkpoint({ ...fence, checkpoint });
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });

    const { runner } = await client.runner.register({
      ...{ protocol: 1, name: 'grades', accelerator: 'cpu', memory_gb: 8, version: 'test', grader: true },
    });
    const items = [{ task: { prompt: 'p', chosen: 'a', rejected: 'b' }, response: 'a' }];
    const claimed = async (grader: Grader) => {
      await client.grade({ grader, items }, { waitMs: 0 });
      return (await client.runner.claimErrand({ runner, kinds: ['grade'] })).claim;
    };
    expect(await claimed({ type: 'preference', model: id })).toMatchObject({
      payload: { grader: { type: 'preference', model: id } },
      reward_model: { id, ...checkpoint },
    });
    const judged = judge('https://judge.example.com/v1') as Grader;
    expect(await claimed(judged)).toMatchObject({ reward_model: null });
  });
});

test('a pairwise judge is not given rows without a reference', async () => {
  const row = '{"prompt":"p","instruction_id_list":["punctuation:no_comma"],"kwargs":[{}]}\n';
  await closed.client().createDataset({ name: 'instructions', kind: 'instruction' }, row);
  const posted = (prompt: string) =>
    spec({
      stages: [
        {
          kind: 'math',
          data: 'instructions',
          max_response: 8,
          steps: 1,
          grader: { ...judge('https://j.example.com'), prompt },
        },
      ],
      evaluate: undefined,
    });
  expect(await issuesOf(closed, posted('yes_no'))).toEqual([]);
  expect(await issuesOf(closed, posted('pairwise'))).toMatchObject([{ pointer: '/stages/0/data' }]);
});

// Errands end to end, every part a process of its own: the API, a runner with its grader, Postgres, a store in a folder. Whatever is
// killed in the middle, the results come.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { GradeResult } from '../../api/contract/grade.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import { readModel } from '../../runner/grader/read-model.ts';
import { RewardModel } from '../../runner/grader/reward-model.ts';
import { claimOne, registerDatasets, spec } from '../api/support.ts';
import type { ApiProcess } from '../runner/support/api-process.ts';
import { startApi } from '../runner/support/api-process.ts';
import { childOf, isAlive } from '../runner/support/processes.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { storeCheckpoint, writeTinyRewardModel } from '../support/tiny-reward-model.ts';
import { until } from '../support/until.ts';

const root = resolve(import.meta.dirname, '../..');
let dir: TempDir;
let api: ApiProcess;
const runners: ChildProcess[] = [];

beforeAll(async () => {
  dir = await tempDir('errands');
  api = await startApi(pathToFileURL(join(dir.path, 'store')).href);
});
afterEach(async () => {
  for (const runner of runners.splice(0)) {
    runner.kill('SIGTERM');
    if (runner.exitCode === null && runner.signalCode === null)
      await new Promise((done) => runner.once('exit', done));
  }
});
afterAll(async () => {
  await api.stop();
  await dir.remove();
});

async function startRunner(name: string): Promise<{ pid: number; grader: () => number | undefined }> {
  const child = spawn(process.execPath, [join(root, 'runner/main.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
      MILLRACE_URL: api.url,
      MILLRACE_RUNNER_TOKEN: api.runnerKey,
      MILLRACE_RUNNER_NAME: name,
      MILLRACE_SCRATCH: join(dir.path, 'scratch'),
      STORE_URL: pathToFileURL(join(dir.path, 'store')).href,
    },
  });
  runners.push(child);
  const since = Date.now();
  await until(async () => {
    const { data } = await api.client.runners();
    return data.some((one) => one.name === name && Date.parse(one.registered_at) >= since);
  }, `runner ${name} has registered`);
  return { pid: child.pid!, grader: () => childOf(child.pid!, 'runner/grader.ts') };
}

const thousand = Array.from({ length: 1_000 }, (_, at) => ({
  task: { prompt: `${at}+1=`, answer: String(at + 1) },
  response: at % 2 === 0 ? `it is \\boxed{${at + 1}}` : '\\boxed{0}',
}));
const request = { grader: { type: 'math' } as const, items: thousand };

function expectGraded(results: readonly GradeResult[] | null): void {
  expect(results?.map((one) => [one.index, one.status === 'unscored' ? undefined : one.value])).toEqual(
    thousand.map((_, at) => [at, at % 2 === 0 ? 1 : 0]),
  );
}

async function resultsOf(errand: string): Promise<GradeResult[] | null> {
  await until(
    async () => ['succeeded', 'failed'].includes((await api.client.errand(errand)).state),
    `errand ${errand} has ended`,
    60_000,
  );
  const { state, message, results } = await api.client.errand(errand);
  expect({ state, message }).toEqual({ state: 'succeeded', message: null });
  return results;
}

test('a thousand answers are graded while the caller waits', { timeout: 120_000 }, async () => {
  await startRunner('a');
  const answer = await api.client.grade(request, { waitMs: 30_000 });
  expectGraded('results' in answer ? answer.results : await resultsOf(answer.errand));
});

test('a grader that is killed in the middle costs the answer nothing', { timeout: 120_000 }, async () => {
  const runner = await startRunner('a');
  const answer = api.client.grade(request, { waitMs: 30_000 });
  await until(() => runner.grader() !== undefined, 'the grader runs');
  const first = runner.grader()!;
  process.kill(first, 'SIGKILL');
  const graded = await answer;
  expectGraded('results' in graded ? graded.results : await resultsOf(graded.errand));
  expect(runner.grader()).not.toBe(first);
  expect(isAlive(runner.pid)).toBe(true);
});

test(
  'of a runner that is killed in the middle another one takes the errand',
  { timeout: 120_000 },
  async () => {
    const first = await startRunner('a');
    const answer = await api.client.grade(request, { waitMs: 0 });
    if (!('errand' in answer)) throw new Error('it was answered at once');
    await until(() => first.grader() !== undefined, 'the grader runs');
    const grader = first.grader()!;
    process.kill(grader, 'SIGSTOP');
    process.kill(first.pid, 'SIGKILL');
    await startRunner('b');
    expectGraded(await resultsOf(answer.errand));
    process.kill(grader, 'SIGCONT');
    await until(() => !isAlive(grader), 'the grader has noticed that its runner is gone');
  },
);

test('answers are scored with a checkpoint that is a reward model', { timeout: 120_000 }, async () => {
  const directory = join(dir.path, 'reward-model');
  const files = await writeTinyRewardModel(directory);
  await registerDatasets(api.client);
  await api.client.createJob(spec());
  const { claim, fence } = await claimOne(api.client);
  const prefix = `jobs/${claim.job}/a${claim.attempt}/0-sft/`;
  const checkpoint = await storeCheckpoint(join(dir.path, 'store'), prefix, directory, files);
  const { id } = await api.client.runner.checkpoint({ ...fence, checkpoint });
  await api.client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  await startRunner('a');

  const prompts = Array.from({ length: 100 }, (_, at) => `${at}+1=`);
  const items = prompts.map((prompt, at) => ({
    task: { prompt, chosen: String(at + 1), rejected: '0' },
    response: `<think>well</think>${at}`,
  }));
  const answer = await api.client.grade(
    { grader: { type: 'preference', model: id }, items },
    { waitMs: 30_000 },
  );
  const results = 'results' in answer ? answer.results : await resultsOf(answer.errand);
  using runtime = createRuntime();
  using model = await RewardModel.create(runtime, await readModel(directory));
  const expected = await model.score(prompts.map((prompt, at) => ({ prompt, answer: String(at) })));
  expect(results?.map((one) => (one.status === 'scored' ? { value: one.value } : one))).toEqual(expected);
});

test('datasets are proven, and rows whose gold is wrong are named', { timeout: 120_000 }, async () => {
  await startRunner('a');
  const rows = (answers: readonly string[]): string =>
    answers.map((answer, at) => JSON.stringify({ prompt: `q${at}`, answer })).join('\n');
  const register = async (name: string, answers: readonly string[]) => {
    const { id } = await api.client.createDataset({ name, kind: 'math' }, rows(answers));
    await until(
      async () => (await api.client.dataset(id)).state !== 'validating',
      `dataset ${name} is decided about`,
      60_000,
    );
    return await api.client.dataset(id);
  };
  expect(await register('good', ['2', '\\frac{1}{2}', 'x+1'])).toMatchObject({
    state: 'ready',
    report: { rows: 3, broken: 0, unproven: 0 },
  });
  expect(await register('bad', ['2', '', '4', ' '])).toMatchObject({
    state: 'invalid',
    message: expect.stringContaining('rows 1, 3'),
    report: { rows: 4, broken: 2, issues: [{ row: 1 }, { row: 3 }] },
  });
});

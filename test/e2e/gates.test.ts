// Gates and evaluations over REST with real processes: a gate pauses the job and a resume passes it, whatever is killed meanwhile;
// jobs that only evaluate. The suite's grader is an HTTP service of the test's own that can hold its answers, so that a kill comes in
// the midst of an evaluation and nowhere else.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventBody, JobEvent } from '../../api/contract/event.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import type { MathRow } from '../../api/contract/task.ts';
import { prefixReward } from '../../runner/rewards/prefix.ts';
import { scored } from '../../runner/rewards/reward.ts';
import { json, useHttpService } from '../rewards/http-service.ts';
import { childOf } from '../runner/support/processes.ts';
import type { Stack } from '../support/stack.ts';
import { startStack } from '../support/stack.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';
import { followToEnd, lastCheckpoint, tinySpec, weightsOf } from './tiny-job.ts';

const limitMs = 300_000;

const service = useHttpService();
/** Each row's own answer is graded once, before anything else, and two answers to each row in every evaluation. */
const golds = 8;
const answers = 16;

/** Graded since it was last planned; from `holdsAfter` on it holds what it is asked, until it is let go. */
const grading = { graded: 0, holdsAfter: Infinity, held: false };
const plan = (holdsAfter = Infinity): void =>
  void Object.assign(grading, { graded: 0, holdsAfter, held: false });

let dir: TempDir;
let stack: Stack;

beforeAll(async () => {
  dir = await tempDir('gates');
  service.answer = async ({ body }, response, count) => {
    const { items } = JSON.parse(body) as { items: { task: MathRow; response: string }[] };
    grading.held ||= grading.graded >= grading.holdsAfter;
    await until(() => !grading.held || response.destroyed, 'the test lets it go', limitMs);
    grading.graded += items.length;
    const results = items.map(({ task: { answer }, response: given }) =>
      given === answer ? scored(1) : prefixReward(answer, given),
    );
    await json({ results })({ path: '', headers: {}, body }, response, count);
  };
  stack = await startStack({
    dir: dir.path,
    storeUrl: pathToFileURL(join(dir.path, 'store')).href,
    env: { MILLRACE_ALLOW_PRIVATE_ADDRESSES: '1' },
  });
}, limitMs);
afterAll(async () => {
  plan();
  await stack.stop();
  await dir.remove();
});

type Cascade = Extract<JobSpecInput, { type: 'cascade' }>;

/** The tiny job, shorter, its suite graded by the service. */
async function specOf(gates: Cascade['gates']): Promise<Cascade> {
  const spec = (await tinySpec(stack.client)) as Cascade;
  const [sft, math] = spec.stages;
  const [suite] = spec.evaluate!.suites!;
  const grader = { type: 'remote', url: `${service.url}/grade`, batch: 16, retries: 0, timeout: '5m' };
  return {
    ...spec,
    stages: [
      { ...sft, steps: 6 },
      { ...math, steps: 4 },
    ] as Cascade['stages'],
    evaluate: { suites: [{ ...suite, grader }] as never },
    gates,
  };
}

const gate = {
  after: 'sft',
  require: { metric: 'digits.non_thinking.avg@2', at_least: 0.999 },
} as const;

const ofType = <Type extends EventBody['type']>(events: readonly JobEvent[], type: Type) =>
  events.flatMap(({ body }) => (body.type === type ? [body as Extract<EventBody, { type: Type }>] : []));

/** Kills the trainer once its evaluation waits for the service. */
async function killInEvaluation(): Promise<void> {
  await until(() => grading.held, 'the service is asked', 60_000);
  process.kill(childOf(stack.pid('runner'), 'runner/trainer.ts')!, 'SIGKILL');
  plan();
}

const isIn = (job: string, state: string) => async (): Promise<boolean> =>
  (await stack.client.job(job)).state === state;

test.skipIf(process.platform !== 'linux')(
  'a gate pauses the job and a resume passes it; kills in the midst of evaluations change nothing (needs /proc)',
  async () => {
    const { client } = stack;
    plan();
    const plain = (await client.createJob(await specOf([]))).id;
    expect(ofType(await followToEnd(client, plain), 'gate')).toEqual([]);
    const expected = (await client.evaluations(plain, { values: true })).data;
    expect(expected.map(({ after, values }) => [after, values?.length])).toEqual([
      ['initial', 8],
      ['sft', 8],
      ['math', 8],
    ]);
    expect((await client.evaluations(plain)).data.every(({ values }) => values === undefined)).toBe(true);

    expect(grading.graded).toBe(golds + 3 * answers);

    // In the evaluation after sft, which the gate looks at.
    plan(golds + answers);
    const { id } = await client.createJob(await specOf([gate]));
    await killInEvaluation();
    await until(isIn(id, 'paused'), 'the gate pauses the job', 60_000);
    const paused = await client.job(id);
    expect(paused).toMatchObject({
      reason: 'gate_failed',
      message: expect.stringMatching(
        /^gate 0 after sft: digits\.non_thinking\.avg@2 is 0\.\d+ \(.* at 95 %, 8 tasks\), less than at_least 0\.999\. .*resume the job/,
      ),
    });
    const kept = await lastCheckpoint(client, id);
    expect(kept).toMatchObject({ stage: 'sft', kind: 'stage_end' });

    plan(0);
    await client.resumeJob(id);
    await killInEvaluation();
    const events = await followToEnd(client, id);
    expect(await client.job(id)).toMatchObject({ state: 'succeeded', reason: null });
    expect(ofType(events, 'gate').map(({ result }) => result)).toEqual(['fired', 'passed']);
    const [fired, passed] = ofType(events, 'gate');
    expect(passed).toEqual({ ...fired, result: 'passed' });
    expect(weightsOf(await lastCheckpoint(client, id))).toBe(weightsOf(await lastCheckpoint(client, plain)));
    const withoutAttempt = (cells: typeof expected) => cells.map(({ attempt: _, ...cell }) => cell);
    const matrix = (await client.evaluations(id, { values: true })).data;
    expect(withoutAttempt(matrix)).toEqual(withoutAttempt(expected));
  },
  limitMs,
);

test(
  'a gate that fails the job ends it, though the supervisor is killed when it fires',
  async () => {
    const { client } = stack;
    plan();
    const { id } = await client.createJob(await specOf([{ ...gate, otherwise: 'fail' }]));
    let killed = false;
    const events = await followToEnd(client, id, ({ body }) => {
      if (body.type !== 'gate' || killed) return;
      killed = true;
      process.kill(stack.pid('runner'), 'SIGKILL');
    });
    expect(killed).toBe(true);
    expect(await client.job(id)).toMatchObject({ state: 'failed', reason: 'gate_failed' });
    // Once, or once more by the next attempt where the kill came before the outcome: with the same numbers.
    const looks = ofType(events, 'gate');
    expect(looks[0]).toMatchObject({ gate: 0, result: 'fired' });
    expect(looks).toEqual(looks.map(() => looks[0]));
    expect(await lastCheckpoint(client, id)).toMatchObject({ stage: 'sft', kind: 'stage_end' });
  },
  limitMs,
);

test.skipIf(process.platform !== 'linux')(
  'an evaluate job measures a checkpoint of another job as that job did, a killed trainer or not; it can be cancelled (needs /proc)',
  async () => {
    const { client } = stack;
    const cascade = await specOf([]);
    const source = (await client.createJob(cascade)).id;
    await followToEnd(client, source);
    const last = (await client.evaluations(source, { values: true })).data.filter(
      ({ after }) => after === 'math',
    );
    const checkpoint = (await lastCheckpoint(client, source)).id;
    const spec = {
      type: 'evaluate',
      seed: cascade.seed,
      model: { init: { from: 'checkpoint', checkpoint } },
      evaluate: cascade.evaluate,
    } as JobSpecInput;

    plan(golds);
    const { id } = await client.createJob(spec);
    await killInEvaluation();
    const events = await followToEnd(client, id);
    expect(await client.job(id)).toMatchObject({ state: 'succeeded', attempt: 2, last_checkpoint: null });
    expect(ofType(events, 'evaluation')).toMatchObject([{ after: 'initial', step: null }]);
    expect(ofType(events, 'checkpoint')).toEqual([]);
    const measured = (await client.evaluations(id, { values: true })).data;
    expect(measured).toEqual(last.map((cell) => ({ ...cell, after: 'initial', attempt: 2 })));

    plan(golds);
    const cancelled = (await client.createJob(spec)).id;
    await until(() => grading.held, 'the service is asked', 60_000);
    await client.cancelJob(cancelled);
    await followToEnd(client, cancelled);
    plan();
    expect(await client.job(cancelled)).toMatchObject({ state: 'cancelled' });
    expect((await client.evaluations(cancelled)).data).toEqual([]);
  },
  limitMs,
);

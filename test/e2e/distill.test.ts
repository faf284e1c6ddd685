// Distillation over REST with real processes: a stage of a cascade that learns from ends of stages before it, whatever is killed
// meanwhile; a job of its own that learns from checkpoints of another; and teachers that are not what they were, each a clear end at the
// earliest moment.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Checkpoint } from '../../api/contract/checkpoint.ts';
import type { JobEvent } from '../../api/contract/event.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { drawKey, drawStream } from '../../runner/engine/random/draws.ts';
import { childOf } from '../runner/support/processes.ts';
import { recordOf } from '../support/run-record.ts';
import type { RunRecord } from '../support/run-record.ts';
import type { Stack } from '../support/stack.ts';
import { startStack } from '../support/stack.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { writeTinyDirectory } from '../support/tiny-directory.ts';
import { until } from '../support/until.ts';
import { followToEnd, lastCheckpoint, tinySpec, weightsOf } from './tiny-job.ts';

const limitMs = 300_000;
const distillSteps = 20;
const grader = { type: 'prefix' } as const;

type Cascade = Extract<JobSpecInput, { type: 'cascade' }>;

let dir: TempDir;
let stack: Stack;
let tiny: Cascade;
/** What the other domain asks for: terms counted down. */
let down: string;
let whole: { readonly job: string; readonly events: JobEvent[]; readonly record: RunRecord };
let ends: ReadonlyMap<string, Checkpoint>;

const models = (name: string): string => join(dir.path, 'models', name);
const stored = ({ prefix }: Checkpoint, file: string): string => join(dir.path, 'store', prefix, file);

beforeAll(async () => {
  dir = await tempDir('distill');
  stack = await startStack({
    dir: dir.path,
    storeUrl: pathToFileURL(join(dir.path, 'store')).href,
    runnerEnv: { MILLRACE_MODEL_ROOTS: join(dir.path, 'models') },
  });
  tiny = (await tinySpec(stack.client)) as Cascade;
  const rows = Array.from({ length: 20 }, (_, i) => ({
    prompt: `${i % 9},${(i + 8) % 9}:`,
    answer: `${(i + 7) % 9}`,
  }));
  const body = rows.map((row) => JSON.stringify(row)).join('\n');
  down = (
    await stack.client.createDataset({ name: 'down', kind: 'math', grader: JSON.stringify(grader) }, body)
  ).id;
  const job = (await stack.client.createJob(cascade())).id;
  const events = await followToEnd(stack.client, job);
  expect(await stack.client.job(job)).toMatchObject({ state: 'succeeded' });
  whole = { job, events, record: await recordOf(stack.client, job, events) };
  const { data } = await stack.client.checkpoints(job, { limit: 100 });
  ends = new Map(data.filter(({ kind }) => kind !== 'step').map((end) => [end.stage, end]));
}, limitMs);
afterAll(async () => {
  await stack.stop();
  await dir.remove();
});

const sampled = { prompts_per_step: 6, rollouts: 2, max_response: 12, lr: 1e-3 };
const taught = { ...sampled, warmup_steps: 0, objective: { type: 'policy_gradient' as const } };

/** Two domains by rewards, then both from models before the last of them, which is the student. */
function cascade(): Cascade {
  const [sft, math] = tiny.stages as unknown as [{ data: string }, object];
  const [suite] = tiny.evaluate!.suites!;
  const rewarded = { ...math, steps: 3, max_response: 12, lr: 3e-3 };
  return {
    ...tiny,
    stages: [
      { ...sft, steps: 16, lr: 3e-3 },
      rewarded,
      { ...rewarded, name: 'down', domain: 'down', data: down },
      {
        kind: 'distill',
        ...taught,
        // Long enough a step for a kill to come before the next.
        ...{ prompts_per_step: 32, rollouts: 8, max_response: 32 },
        steps: distillSteps,
        domains: [
          { domain: 'math', teacher: 'stage:math' },
          { domain: 'down', teacher: 'best' },
        ],
      },
    ] as Cascade['stages'],
    // What sft is better at than what comes after it.
    evaluate: { suites: [suite, { name: 'held', measure: 'loss', domain: 'down', data: sft.data }] as never },
    checkpoints: { every_steps: 3 },
  };
}

const ofType = <Type extends JobEvent['body']['type']>(events: readonly JobEvent[], type: Type) =>
  events.flatMap(({ body }) =>
    body.type === type ? [body as Extract<JobEvent['body'], { type: Type }>] : [],
  );

/** Every kept answer with what its teacher makes of it: another teacher would be at another distance. */
async function answersOf(job: string): Promise<object[]> {
  const answers = [];
  for await (const { id: _, attempt: __, ...sample } of stack.client.all(
    (query) => stack.client.samples(job, { ...query, stage: 'distill' }),
    { limit: 200 },
  ))
    answers.push(sample);
  return answers.sort((a, b) => a.step - b.step || a.task - b.task || a.rollout - b.rollout);
}

/** Kills one process at each of these steps of the stage, the trainer or the supervisor; 0: once its teachers are open. */
function killer(steps: readonly number[]): {
  readonly kills: number[];
  readonly onEvent: (event: JobEvent) => void;
} {
  const kills: number[] = [];
  const onEvent = ({ body }: JobEvent): void => {
    const due = steps[kills.length];
    const step = body.type === 'step' ? body.step : body.type === 'teachers' ? 0 : -1;
    if (due === undefined || !('stage' in body) || body.stage !== 'distill' || step < due) return;
    const trainer = childOf(stack.pid('runner'), 'runner/trainer.ts');
    if (trainer === undefined) return;
    kills.push(step);
    process.kill(kills.length % 2 === 1 ? trainer : stack.pid('runner'), 'SIGKILL');
  };
  return { kills, onEvent };
}

describe.skipIf(process.platform !== 'linux')('killed at random steps (needs /proc)', () => {
  test(
    'a cascade that distils from two of its stages ends with the same weights, metrics and routing',
    async () => {
      const { client } = stack;
      const [chosen] = ofType(whole.events, 'teachers');
      expect(chosen!.teachers).toEqual([
        { domain: 'math', teacher: 'stage:math', score: null },
        { domain: 'down', teacher: 'stage:sft', score: expect.any(Number) as number },
      ]);
      const kls = ofType(whole.events, 'teacher_distance').map(({ kl }) => kl);
      expect(kls.map((kl) => Math.abs(kl) > 1e-4)).toEqual([true, true]);
      const learnt = ofType(whole.events, 'step').filter(({ stage }) => stage === 'distill');
      expect(learnt.length).toBe(distillSteps);

      const seed = Date.now();
      const draw = drawStream(drawKey(seed, 'kills', 0), 0, 0);
      const { kills, onEvent } = killer([Math.floor(draw(0) * 4), 4 + Math.floor(draw(1) * 2)]);
      const { id } = await client.createJob(cascade());
      const events = await followToEnd(client, id, onEvent);
      const told = `seed ${seed}: killed at ${kills.join(', ')}`;
      expect(kills.length, told).toBe(2);
      const { state, attempt } = await client.job(id);
      expect(state, told).toBe('succeeded');
      expect(attempt, told).toBeGreaterThan(1);
      expect(await recordOf(client, id, events), told).toEqual(whole.record);
      expect(await answersOf(id), told).toEqual(await answersOf(whole.job));
      expect((await answersOf(id)).length).toBeGreaterThan(distillSteps);
    },
    limitMs,
  );
});

/** From the end of the cascade's sft, its two domains from checkpoints of the cascade. */
function distillJob(teachers: { readonly math: unknown; readonly down: unknown }): JobSpecInput {
  return {
    type: 'distill',
    seed: 3,
    model: { init: { from: 'checkpoint', checkpoint: ends.get('sft')!.id } },
    stage: {
      kind: 'distill',
      ...taught,
      steps: 3,
      domains: [
        { domain: 'math', data: (tiny.stages[1] as { data: string }).data, teacher: teachers.math },
        { domain: 'down', data: down, teacher: teachers.down },
      ],
    },
    max_attempts: 1,
  } as JobSpecInput;
}

test(
  'a job of its own learns from two checkpoints of another job',
  async () => {
    const { client } = stack;
    const [math, downEnd] = [ends.get('math')!, ends.get('down')!];
    const { id } = await client.createJob(distillJob({ math: math.id, down: downEnd.id }));
    const events = await followToEnd(client, id);
    expect(await client.job(id)).toMatchObject({ state: 'succeeded', reason: null });
    expect(ofType(events, 'teachers')).toMatchObject([
      {
        teachers: [
          { domain: 'math', teacher: math.id },
          { domain: 'down', teacher: downEnd.id },
        ],
      },
    ]);
    expect(ofType(events, 'step').map(({ step }) => step)).toEqual([1, 2, 3]);
    expect(weightsOf(await lastCheckpoint(client, id))).not.toBe(weightsOf(ends.get('sft')!));
  },
  limitMs,
);

test(
  'adapters learn from the end of their own stage, which holds the whole model',
  async () => {
    const { client } = stack;
    const { stages, ...rest } = cascade();
    const [sft, math, , distill] = stages as unknown as [object, { data: string }, object, object];
    const spec = {
      ...rest,
      model: { ...rest.model, tuning: { method: 'lora', rank: 4 } },
      stages: [
        { ...sft, steps: 4 },
        { ...sft, name: 'more', steps: 4 },
        { ...distill, steps: 2, domains: [{ domain: 'math', data: math.data, teacher: 'stage:sft' }] },
      ],
      evaluate: {},
    } as Cascade;
    const { id } = await client.createJob(spec);
    const events = await followToEnd(client, id);
    expect(await client.job(id)).toMatchObject({ state: 'succeeded', reason: null });
    const [told] = ofType(events, 'teacher_distance');
    expect(told).toMatchObject({ domain: 'math', teacher: 'stage:sft' });
    expect(Math.abs(told!.kl)).toBeGreaterThan(1e-4);
    const learnt = ofType(events, 'step').filter(({ stage }) => stage === 'distill');
    expect(learnt.map(({ step }) => step)).toEqual([1, 2]);
  },
  limitMs,
);

describe('a teacher', () => {
  /** Runs the job to its end; what it ended as, and whether it had trained. */
  async function ended(spec: JobSpecInput) {
    const { client } = stack;
    const { id } = await client.createJob(spec);
    const events = await followToEnd(client, id);
    const { state, reason, message } = await client.job(id);
    return { state, reason, message, steps: ofType(events, 'step').map(({ stage }) => stage) };
  }
  const first = 'teacher of stage distill, domain math';

  test(
    'of another vocabulary is refused before the first step',
    async () => {
      await writeTinyDirectory(models('other'));
      const math = { uri: pathToFileURL(models('other')).href };
      const outcome = await ended(distillJob({ math, down: ends.get('down')!.id }));
      expect(outcome).toMatchObject({ state: 'failed', reason: 'invalid_model', steps: [] });
      expect(outcome.message).toMatch(
        /^teacher file:.*other of stage distill, domain math: .*: its vocabulary has \d+ words, that of the model \d+/,
      );
    },
    limitMs,
  );

  test(
    'that is not there is refused before the first step',
    async () => {
      const outcome = await ended(
        distillJob({ math: { uri: models('nowhere') }, down: ends.get('down')!.id }),
      );
      expect(outcome).toMatchObject({ state: 'failed', reason: 'invalid_model', steps: [] });
      expect(outcome.message).toMatch(
        /^teacher .*nowhere of stage distill, domain math: .*there is no such file/,
      );
      const foreign = await ended(distillJob({ math: { uri: dir.path }, down: ends.get('down')!.id }));
      expect(foreign).toMatchObject({ state: 'failed', reason: 'invalid_model', steps: [] });
      expect(foreign.message).toMatch(new RegExp(`^${first}: .*MILLRACE_MODEL_ROOTS`));
    },
    limitMs,
  );

  test(
    'whose files the store has lost ends the attempt before the first step, where it is another job’s',
    async () => {
      const source = (
        await stack.client.createJob(distillJob({ math: ends.get('math')!.id, down: ends.get('down')!.id }))
      ).id;
      await followToEnd(stack.client, source);
      const lost = await lastCheckpoint(stack.client, source);
      await rm(stored(lost, 'model.safetensors'));
      const outcome = await ended(distillJob({ math: lost.id, down: ends.get('down')!.id }));
      expect(outcome).toMatchObject({ state: 'failed', reason: 'store_unavailable', steps: [] });
      expect(outcome.message).toMatch(new RegExp(`^${first}: .*model\\.safetensors`));
    },
    limitMs,
  );

  test(
    'that is damaged in mid-run ends the attempt when its stage begins, by the stage that it was',
    async () => {
      const { client } = stack;
      const spec = cascade();
      // A moment in which nothing runs.
      const require = { metric: 'digits.non_thinking.avg@2', at_least: 0.999 };
      const gates = [{ after: 'math', require, otherwise: 'pause' }] as Cascade['gates'];
      const { id } = await client.createJob({ ...spec, gates, max_attempts: 1 });
      const events = followToEnd(client, id);
      await until(async () => (await client.job(id)).state === 'paused', 'the gate pauses the job', 60_000);
      const { data } = await client.checkpoints(id, { limit: 100 });
      const sft = data.find(({ stage, kind }) => stage === 'sft' && kind === 'stage_end')!;
      await writeFile(stored(sft, 'model.safetensors'), 'no weights');
      await client.resumeJob(id);
      const steps = ofType(await events, 'step').map(({ stage }) => stage);
      const { state, reason, message } = await client.job(id);
      expect({ state, reason }).toEqual({ state: 'failed', reason: 'store_unavailable' });
      expect(message).toMatch(/^the end of stage sft, which a later stage learns from: .*model\.safetensors/);
      expect(new Set(steps)).toEqual(new Set(['sft', 'math', 'down']));
    },
    limitMs,
  );
});

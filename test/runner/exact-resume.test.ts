// The promise of exact resume, with nothing scripted: a real cascade on a tiny model through the real API, Postgres,
// supervisor, trainer and uploader. Whichever process is killed in the middle, the job ends with the same bits as
// one that nobody disturbed, and its history has neither gap nor double.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../api/contract/event.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { ApiProcess } from './support/api-process.ts';
import { startApi } from './support/api-process.ts';
import { childOf, isAlive } from './support/processes.ts';

const entry = resolve(import.meta.dirname, '../../runner/main.ts');
const sftSteps = 24;
const mathSteps = 8;

let dir: TempDir;
let api: ApiProcess;
let runner: ChildProcess;
let undisturbed: Readonly<Record<string, string>>;

const storeUrl = (): string => pathToFileURL(join(dir.path, 'store')).href;

function startRunner(): void {
  runner = spawn(process.execPath, [entry], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
      MILLRACE_URL: api.url,
      MILLRACE_RUNNER_TOKEN: api.runnerKey,
      MILLRACE_SCRATCH: join(dir.path, 'scratch'),
      STORE_URL: storeUrl(),
    },
  });
}

/** Sequences such as "3:" -> "3456". */
const tasks = Array.from({ length: 10 }, (_, first) => ({
  prompt: `${first}:`,
  answer: [0, 1, 2, 3].map((step) => (first + step) % 10).join(''),
}));

beforeAll(async () => {
  dir = await tempDir('resume');
  api = await startApi(storeUrl());
  const conversations = tasks.map(({ prompt, answer }) => ({
    messages: [
      { role: 'user', content: prompt },
      { role: 'assistant', content: answer },
    ],
  }));
  await api.client.createDataset({ name: 'warm-up', kind: 'sft' }, JSON.stringify(conversations));
  await api.client.createDataset(
    { name: 'tasks', kind: 'math', grader: '{"type":"prefix"}' },
    JSON.stringify(tasks),
  );
  startRunner();
  undisturbed = await weightsOf((await run()).job);
});
afterEach(() => {
  if (!isAlive(runner.pid!)) startRunner();
});
afterAll(async () => {
  runner.kill('SIGKILL');
  await api.stop();
  await dir.remove();
});

const spec = {
  type: 'cascade',
  seed: 7,
  model: {
    init: {
      from: 'config',
      config: { hidden_size: 64, intermediate_size: 128, num_hidden_layers: 2, num_attention_heads: 2 },
      tokenizer: { type: 'characters', alphabet: '0123456789:' },
    },
  },
  stages: [
    { kind: 'sft', data: 'warm-up', steps: sftSteps, batch: 16, lr: 1e-3, max_length: 32 },
    {
      kind: 'math',
      data: 'tasks',
      grader: { type: 'prefix' },
      steps: mathSteps,
      prompts_per_step: 8,
      rollouts: 4,
      max_response: 8,
      lr: 1e-3,
      overlong: 'keep',
    },
  ],
  evaluate: {
    suites: [
      { name: 'digits', data: 'tasks', grader: { type: 'prefix' }, k: 2, sampling: { max_response: 8 } },
    ],
  },
  checkpoints: { every_steps: 5 },
} satisfies JobSpecInput;

const loraSpec: JobSpecInput = {
  ...spec,
  model: { ...spec.model, tuning: { method: 'lora', rank: 8 } },
};

/** Runs the job to its end, with `disturb` called for each event as it comes. */
async function run(
  disturb: (event: JobEvent) => void | Promise<void> = () => undefined,
  posted: JobSpecInput = spec,
): Promise<{ job: string; events: JobEvent[] }> {
  const { id } = await api.client.createJob(posted);
  const events: JobEvent[] = [];
  for await (const event of api.client.events(id)) {
    events.push(event);
    await disturb(event);
  }
  expect(events.at(-1)!.body).toMatchObject({ type: 'state', to: 'succeeded' });
  return { job: id, events };
}

/** The state that the job comes to. */
async function endOf(job: string): Promise<string> {
  let state = '';
  for await (const { body } of api.client.events(job)) if (body.type === 'state') state = body.to;
  return state;
}

/** Hashes of the final checkpoint's weights and moments. */
async function weightsOf(job: string): Promise<Record<string, string>> {
  const { data } = await api.client.checkpoints(job);
  const final = data.find(({ kind }) => kind === 'final')!;
  const kept = final.files.filter(({ name }) => name.endsWith('.safetensors'));
  return Object.fromEntries(kept.map(({ name, sha256 }) => [name, sha256]));
}

/** Calls `act` once, at the first event of a step from `step` of the first stage on. */
function once(step: number, act: () => void | Promise<void>): (event: JobEvent) => Promise<void> {
  let done = false;
  return async ({ body }) => {
    if (done || body.type !== 'step' || body.stage !== 'sft' || body.step < step) return;
    done = true;
    await act();
  };
}

function killChild(file: string): void {
  const pid = childOf(runner.pid!, file);
  if (pid === undefined) throw new Error(`the runner has no child ${file}`);
  process.kill(pid, 'SIGKILL');
}

async function expectSame(
  job: string,
  events: readonly JobEvent[],
  attempts: number,
  expected = undisturbed,
): Promise<void> {
  expect(await weightsOf(job)).toEqual(expected);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  expect(await api.client.job(job)).toMatchObject({ attempt: attempts });
  const steps = events.flatMap(({ attempt, body }) =>
    body.type === 'step' ? [`a${attempt} ${body.stage} ${body.step}`] : [],
  );
  expect(new Set(steps).size).toBe(steps.length);
  const { data: losses } = await api.client.metrics(job, { key: 'loss', stage: 'sft', limit: 200 });
  expect(losses.map(({ step }) => step)).toEqual(Array.from({ length: sftSteps }, (_, at) => at + 1));
}

describe.skipIf(process.platform !== 'linux')(
  'the same weights, bit for bit (skipped where there is no /proc)',
  () => {
    it('undisturbed, once more', async () => {
      const { job, events } = await run();
      await expectSame(job, events, 1);
    });

    it('the trainer killed', async () => {
      const { job, events } = await run(once(7, () => killChild('runner/trainer.ts')));
      await expectSame(job, events, 2);
      expect(events.find(({ body }) => body.type === 'attempt_failed')!.body).toMatchObject({
        reason: 'trainer_crashed',
      });
    });

    it('the supervisor killed', async () => {
      const kill = (): void => {
        runner.kill('SIGKILL');
        startRunner();
      };
      const { job, events } = await run(once(7, kill));
      await expectSame(job, events, 2);
      expect(events.find(({ body }) => body.type === 'attempt_failed')!.body).toMatchObject({
        reason: 'lease_expired',
      });
    });

    it('the trainer killed, with adapters alone in training', async () => {
      const whole = await weightsOf((await run(undefined, loraSpec)).job);
      expect(Object.keys(whole).sort()).toEqual([
        'adapter/adapter_model.safetensors',
        'model.safetensors',
        'trainer/moments.safetensors',
      ]);
      const { job, events } = await run(
        once(7, () => killChild('runner/trainer.ts')),
        loraSpec,
      );
      await expectSame(job, events, 2, whole);
      const { data } = await api.client.checkpoints(job);
      for (const { kind, files } of data) {
        const names = files.map(({ name }) => name);
        expect(names).toContain('adapter/adapter_config.json');
        expect(names).toContain('tokenizer.json');
        expect(names.includes('model.safetensors'), kind).toBe(kind !== 'step');
      }
    });

    it('the uploader killed', async () => {
      const { job, events } = await run(once(4, () => killChild('runner/uploader.ts')));
      await expectSame(job, events, 1);
    });

    it('cancelled in the middle, and retried as a new job; forked from the end of a stage', async () => {
      const { id } = await api.client.createJob(spec);
      let cancelled = false;
      for await (const { body } of api.client.events(id)) {
        if (cancelled || body.type !== 'step' || body.stage !== 'sft' || body.step < 7) continue;
        cancelled = true;
        await api.client.cancelJob(id);
      }
      const retried = await api.client.retryJob(id);
      expect(retried).toMatchObject({ retry_of: id, began_from: expect.stringMatching(/^ckpt_/) as string });
      expect(await endOf(retried.id)).toBe('succeeded');
      expect(await weightsOf(retried.id)).toEqual(undisturbed);
      const forked = await api.client.forkJob(retried.id, { stage: 'sft' });
      expect(await endOf(forked.id)).toBe('succeeded');
      expect(await weightsOf(forked.id)).toEqual(undisturbed);
      const { data } = await api.client.metrics(forked.id, { limit: 200 });
      expect(new Set(data.map(({ stage }) => stage))).toEqual(new Set(['math']));
    });

    it('the API killed', async () => {
      const { job, events } = await run(once(7, () => api.restart()));
      await expectSame(job, events, 1);
    });
  },
);

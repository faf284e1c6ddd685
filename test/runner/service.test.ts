// The runner against the real API, Postgres and a filesystem store, with a scripted trainer: what a client sees of an
// undisturbed job, and of jobs whose API or supervisor is killed in the middle.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../api/contract/event.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { openCheckpoint } from '../../runner/checkpoint/read.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { ApiProcess } from './support/api-process.ts';
import { startApi } from './support/api-process.ts';
import { isAlive } from './support/processes.ts';

let dir: TempDir;
let api: ApiProcess;
const runners: ChildProcess[] = [];
const pidFile = (): string => join(dir.path, 'pids.json');

beforeAll(async () => {
  dir = await tempDir('service');
  api = await startApi(pathToFileURL(join(dir.path, 'store')).href);
  const row = {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
    ],
  };
  await api.client.createDataset({ name: 'rows', kind: 'sft' }, JSON.stringify(row));
});
afterEach(() => {
  for (const runner of runners.splice(0)) runner.kill('SIGKILL');
});
afterAll(async () => {
  await api.stop();
  await dir.remove();
});

function startRunner(megabytes = 0): ChildProcess {
  const runner = spawn(process.execPath, [join(import.meta.dirname, 'support/supervisor-process.ts')], {
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
      MILLRACE_URL: api.url,
      MILLRACE_RUNNER_TOKEN: api.runnerKey,
      MILLRACE_SCRATCH: join(dir.path, 'scratch'),
      STORE_URL: pathToFileURL(join(dir.path, 'store')).href,
      TEST_TRAINER: join(import.meta.dirname, 'support/scripted-trainer.ts'),
      SCRIPT_PIDS: pidFile(),
      SCRIPT_MEGABYTES: String(megabytes),
    },
  });
  runners.push(runner);
  return runner;
}

/** `name` chooses the trainer's script. */
async function submit(name: string): Promise<string> {
  const shape = { hidden_size: 8, intermediate_size: 8, num_hidden_layers: 1, num_attention_heads: 1 };
  const spec: JobSpecInput = {
    type: 'sft',
    name,
    model: { init: { from: 'config', config: shape, tokenizer: { type: 'characters', alphabet: 'ab' } } },
    stage: { kind: 'sft', data: 'rows', steps: 4 },
  };
  return (await api.client.createJob(spec)).id;
}

const isStep = ({ body }: JobEvent, step: number): boolean => body.type === 'step' && body.step === step;

/** Every event until the last, with `disturb` called for each as it comes. */
async function follow(
  job: string,
  disturb: (event: JobEvent) => void | Promise<void> = () => undefined,
): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  for await (const event of api.client.events(job)) {
    events.push(event);
    await disturb(event);
  }
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  return events;
}

const stepsOf = (events: readonly JobEvent[], attempt: number): number[] =>
  events.flatMap((event) =>
    event.attempt === attempt && event.body.type === 'step' ? [event.body.step] : [],
  );

async function expectComplete(job: string): Promise<void> {
  expect(await api.client.job(job)).toMatchObject({ state: 'succeeded', progress: { step: 4 } });
  const { data: checkpoints } = await api.client.checkpoints(job);
  expect(checkpoints.map(({ step }) => step).sort()).toEqual([2, 4]);
  for (const { prefix } of checkpoints) await openCheckpoint(join(dir.path, 'store', prefix));
}

describe('a job on the real service', { timeout: 120_000 }, () => {
  it('undisturbed: events, metrics, samples, log and checkpoints are those of the trainer', async () => {
    startRunner();
    const job = await submit('train');
    const events = await follow(job);
    expect(stepsOf(events, 1)).toEqual([1, 2, 3, 4]);
    expect(events.at(-1)!.body).toMatchObject({ type: 'state', to: 'succeeded' });
    await expectComplete(job);
    const { data: metrics } = await api.client.metrics(job, { key: 'loss' });
    expect(metrics.map(({ value }) => value)).toEqual([1, 1 / 2, 1 / 3, 1 / 4]);
    expect(await api.client.logs(job)).toContain('inputs {"datasets":{"ds_');
  });

  it('the API killed in the middle: one attempt, every event once', async () => {
    startRunner(16);
    const job = await submit('train');
    const events = await follow(job, async (event) => {
      if (isStep(event, 2)) await api.restart();
    });
    expect(stepsOf(events, 1)).toEqual([1, 2, 3, 4]);
    expect(await api.client.job(job)).toMatchObject({ attempt: 1 });
    await expectComplete(job);
  });

  it('the supervisor killed in the middle: the next attempt goes on from the last committed checkpoint', async () => {
    const first = startRunner(16);
    const job = await submit('train');
    let killed: number[] = [];
    const events = await follow(job, (event) => {
      if (event.body.type !== 'checkpoint' || event.attempt !== 1) return;
      killed = JSON.parse(readFileSync(pidFile(), 'utf8')) as number[];
      first.kill('SIGKILL');
      startRunner(16);
    });
    expect(killed.filter(isAlive)).toEqual([]);
    expect(await api.client.job(job)).toMatchObject({ attempt: 2 });
    expect(stepsOf(events, 1).slice(0, 2)).toEqual([1, 2]);
    expect(stepsOf(events, 2)).toEqual([3, 4]);
    expect(events.find(({ body }) => body.type === 'attempt_failed')?.body).toMatchObject({
      reason: 'lease_expired',
    });
    await expectComplete(job);
  });

  it('a cancel: cancelled within 10 s, no process of the trainer left, the runner takes the next job', async () => {
    startRunner();
    const job = await submit('stubborn');
    let asked = 0;
    const events = await follow(job, async (event) => {
      if (!isStep(event, 1)) return;
      asked = performance.now();
      await api.client.cancelJob(job);
    });
    expect(performance.now() - asked).toBeLessThan(10_000);
    expect(events.at(-1)!.body).toMatchObject({ type: 'state', to: 'cancelled' });
    expect((JSON.parse(readFileSync(pidFile(), 'utf8')) as number[]).filter(isAlive)).toEqual([]);
    const next = await submit('train');
    await follow(next);
    await expectComplete(next);
  });

  it('a failure that would come again ends the job at once, with its reason', async () => {
    startRunner();
    const job = await submit('diverge');
    await follow(job);
    expect(await api.client.job(job)).toMatchObject({ state: 'failed', reason: 'diverged', attempt: 1 });
  });
});

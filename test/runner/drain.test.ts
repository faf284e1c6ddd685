// A runner that is stopped with SIGTERM, with nothing scripted: it finishes its step, keeps it, hands the job back and ends by
// itself; another runner goes on, and the run ends with the bits of one that nobody stopped.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../api/contract/event.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { tinySpec } from '../e2e/tiny-job.ts';
import type { RunRecord } from '../support/run-record.ts';
import { recordOf } from '../support/run-record.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { ApiProcess } from './support/api-process.ts';
import { startApi } from './support/api-process.ts';

const limitMs = 180_000;
const entry = resolve(import.meta.dirname, '../../runner/main.ts');

let dir: TempDir;
let api: ApiProcess;
let started = 0;
let runner: ChildProcess;

function startRunner(env: Record<string, string> = {}): void {
  started += 1;
  runner = spawn(process.execPath, [entry], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
      MILLRACE_URL: api.url,
      MILLRACE_RUNNER_TOKEN: api.runnerKey,
      MILLRACE_RUNNER_NAME: `drained-${started}`,
      MILLRACE_SCRATCH: join(dir.path, `scratch-${started}`),
      STORE_URL: pathToFileURL(join(dir.path, 'store')).href,
      ...env,
    },
  });
}

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((done) => child.once('exit', (code) => done(code)));

beforeAll(async () => {
  dir = await tempDir('drain');
  api = await startApi(pathToFileURL(join(dir.path, 'store')).href);
  startRunner();
});
afterAll(async () => {
  runner.kill('SIGKILL');
  await api.stop();
  await dir.remove();
});

/** Checkpoints are rare, so that only a drained step explains what is not learnt twice; one attempt without any is allowed. */
async function cascade(): Promise<JobSpecInput> {
  const spec = await tinySpec(api.client);
  if (spec.type !== 'cascade') throw new Error('the tiny job is a cascade');
  const [sft, math] = spec.stages;
  const stages = [
    { ...sft!, steps: 16, batch: 2048 },
    { ...math!, steps: 10, rollouts: 128 },
  ] as typeof spec.stages;
  return { ...spec, stages, max_attempts: 1, checkpoints: { ...spec.checkpoints, every_steps: 100 } };
}

/** At the first sign of each step that is named the runner is told to end, and another begins. */
async function run(
  stops: readonly string[],
): Promise<{ record: RunRecord; events: JobEvent[]; codes: unknown[] }> {
  const { id } = await api.client.createJob(await cascade());
  const due = [...stops];
  const codes: unknown[] = [];
  const events: JobEvent[] = [];
  for await (const event of api.client.events(id)) {
    events.push(event);
    const { body } = event;
    if (body.type !== 'step' || `${body.stage} ${body.step}` !== due[0]) continue;
    due.shift();
    const exit = exitOf(runner);
    runner.kill('SIGTERM');
    codes.push(await exit);
    startRunner();
  }
  expect(due).toEqual([]);
  expect(events.at(-1)!.body).toMatchObject({ type: 'state', to: 'succeeded' });
  return { record: await recordOf(api.client, id, events), events, codes };
}

describe('a runner that is told to end', () => {
  it(
    'keeps its step and hands the job back, twice; others go on exactly',
    async () => {
      const undisturbed = await run([]);
      const drained = await run(['sft 5', 'math 3']);
      expect(drained.codes).toEqual([0, 0]);
      expect(drained.record.steps).toEqual(undisturbed.record.steps);
      expect(drained.record.evaluations).toEqual(undisturbed.record.evaluations);
      expect(drained.record.checkpoints).toMatchObject(undisturbed.record.checkpoints);
      const of = (type: string) => drained.events.filter(({ body }) => body.type === type);
      expect(of('attempt_started')).toHaveLength(3);
      expect(of('attempt_failed')).toEqual([]);
      // Nothing was learnt twice.
      const told = of('step').map(({ body }) =>
        'stage' in body && 'step' in body ? `${body.stage} ${body.step}` : '',
      );
      expect(new Set(told).size).toBe(told.length);
    },
    limitMs,
  );

  it(
    'twice: at once, and the job is tried again',
    async () => {
      const { id } = await api.client.createJob({ ...(await cascade()), max_attempts: 3 } as JobSpecInput);
      let isStopped = false;
      const failures: unknown[] = [];
      for await (const { body } of api.client.events(id)) {
        if (body.type === 'attempt_failed') failures.push(body.reason);
        if (isStopped || body.type !== 'step') continue;
        isStopped = true;
        const exit = exitOf(runner);
        runner.kill('SIGTERM');
        runner.kill('SIGINT');
        expect(await exit).toBe(0);
        startRunner();
      }
      expect((await api.client.job(id)).state).toBe('succeeded');
      // It may have finished its step between the two signals: then it is handed back well.
      expect(failures.every((reason) => reason === 'runner_stopped')).toBe(true);
    },
    limitMs,
  );
});

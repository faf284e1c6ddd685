// The promise of a pause, with nothing scripted: a real cascade paused in one stage goes on with another runner (another supervisor,
// another scratch, the former gone), paused in the next with a third, and ends with the same bits, the same matrix and the same
// history as a run that nobody paused.
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
import { until } from '../support/until.ts';
import type { ApiProcess } from './support/api-process.ts';
import { startApi } from './support/api-process.ts';

const limitMs = 180_000;
const entry = resolve(import.meta.dirname, '../../runner/main.ts');

let dir: TempDir;
let api: ApiProcess;
let runner: ChildProcess;
let started = 0;
let undisturbed: { readonly record: RunRecord };

/** A supervisor with a scratch folder of its own; it registers as a runner of its own. */
function startRunner(): void {
  started += 1;
  runner = spawn(process.execPath, [entry], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
      MILLRACE_URL: api.url,
      MILLRACE_RUNNER_TOKEN: api.runnerKey,
      MILLRACE_RUNNER_NAME: `runner-${started}`,
      MILLRACE_SCRATCH: join(dir.path, `scratch-${started}`),
      STORE_URL: pathToFileURL(join(dir.path, 'store')).href,
    },
  });
}

async function endRunner(): Promise<void> {
  const ended = new Promise((done) => runner.once('exit', done));
  runner.kill('SIGTERM');
  await ended;
}

beforeAll(async () => {
  dir = await tempDir('elsewhere');
  api = await startApi(pathToFileURL(join(dir.path, 'store')).href);
  startRunner();
  undisturbed = await run(await cascade(), []);
});
afterAll(async () => {
  runner.kill('SIGKILL');
  await api.stop();
  await dir.remove();
});

/**
 * Evaluations within stages: the more a step and a resume depend on, the better. Batches are large, so that a stage lasts longer than
 * it takes to hear of a step and to be told to pause.
 */
async function cascade(): Promise<JobSpecInput> {
  const spec = await tinySpec(api.client);
  if (spec.type !== 'cascade') throw new Error('the tiny job is a cascade');
  const [sft, math] = spec.stages;
  const stages = [
    { ...sft!, steps: 16, batch: 2048 },
    { ...math!, steps: 10, rollouts: 128 },
  ] as typeof spec.stages;
  return { ...spec, stages, evaluate: { ...spec.evaluate!, every_steps: 6 } };
}

/** Pauses at the first sign of each step that is named, and goes on elsewhere. */
async function run(
  spec: JobSpecInput,
  pauses: readonly string[],
): Promise<{ job: string; record: RunRecord; events: JobEvent[] }> {
  const { id } = await api.client.createJob(spec);
  const due = [...pauses];
  const events: JobEvent[] = [];
  for await (const event of api.client.events(id)) {
    events.push(event);
    const { body } = event;
    if (body.type === 'step' && `${body.stage} ${body.step}` === due[0]) {
      due.shift();
      expect((await api.client.pauseJob(id)).state).toBe('pausing');
    }
    if (body.type === 'state' && body.to === 'paused') {
      expect(body.reason ?? null).toBeNull();
      await endRunner();
      startRunner();
      expect((await api.client.resumeJob(id)).state).toBe('queued');
    }
  }
  expect(due).toEqual([]);
  expect(events.at(-1)!.body).toMatchObject({ type: 'state', to: 'succeeded' });
  return { job: id, record: await recordOf(api.client, id, events), events };
}

const ofType = (events: readonly JobEvent[], type: JobEvent['body']['type']) =>
  events.filter(({ body }) => body.type === type);

describe('paused and resumed on another runner', () => {
  it(
    'in an sft and in an RL stage: the same weights, moments, states, matrix and steps',
    async () => {
      const paused = await run(await cascade(), ['sft 7', 'math 3']);
      expect(paused.record.evaluations).toEqual(undisturbed.record.evaluations);
      expect(paused.record.steps).toEqual(undisturbed.record.steps);
      expect(paused.record.series).toEqual(undisturbed.record.series);
      // A pause keeps a checkpoint more; all that the undisturbed run has are there, with its bits.
      expect(Object.keys(undisturbed.record.checkpoints)).toHaveLength(6);
      expect(paused.record.checkpoints).toMatchObject(undisturbed.record.checkpoints);
      for (const files of Object.values(paused.record.checkpoints))
        expect(Object.keys(files).sort()).toEqual([
          'model.safetensors',
          'trainer/moments.safetensors',
          'trainer/state.json',
        ]);

      const attempts = ofType(paused.events, 'attempt_started').map(({ body }) => body);
      expect(new Set(attempts.map((body) => 'runner' in body && body.runner)).size).toBe(3);
      // Each pause fell in its own stage: its attempt ends with the stage begun and not finished.
      const places = paused.events.flatMap(({ body }) =>
        body.type === 'stage_finished'
          ? [body.stage]
          : body.type === 'state' && body.to === 'paused'
            ? ['paused']
            : [],
      );
      expect(places).toEqual(['paused', 'sft', 'paused', 'math']);
      for (const type of ['attempt_failed', 'resume_inexact'] as const)
        expect(ofType(paused.events, type)).toEqual([]);
    },
    limitMs,
  );

  it(
    'killed while it pauses: the job is paused, and goes on from the checkpoint before',
    async () => {
      const { id } = await api.client.createJob(await cascade());
      const events: JobEvent[] = [];
      let asked = false;
      for await (const event of api.client.events(id)) {
        events.push(event);
        const { body } = event;
        if (!asked && body.type === 'step' && body.step === 7) {
          asked = true;
          await api.client.pauseJob(id);
          runner.kill('SIGKILL');
        }
        if (body.type === 'state' && body.to === 'paused') {
          const { data } = await api.client.checkpoints(id);
          expect(data.length).toBeGreaterThan(0);
          await until(() => runner.exitCode !== null || runner.signalCode !== null, 'the runner is gone');
          startRunner();
          await api.client.resumeJob(id);
        }
      }
      expect(asked).toBe(true);
      expect(events.at(-1)!.body).toMatchObject({ type: 'state', to: 'succeeded' });
      expect(ofType(events, 'attempt_failed')).toMatchObject([
        { body: { reason: 'lease_expired', retry_at: null } },
      ]);
      const record = await recordOf(api.client, id, events);
      expect(record.steps).toEqual(undisturbed.record.steps);
      expect(record.evaluations).toEqual(undisturbed.record.evaluations);
      expect(record.checkpoints).toMatchObject(undisturbed.record.checkpoints);
    },
    limitMs,
  );
});

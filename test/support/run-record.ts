// All of a finished job that must not depend on what became of its processes: hashes of every checkpoint, the matrix, and what each
// step said. Two runs of one spec are compared by it.
import { createHash } from 'node:crypto';
import type { Client } from '../../api/client.ts';
import type { Entry, JobEvent } from '../../api/contract/event.ts';
import type { Evaluation } from '../../api/contract/results.ts';
import { withoutClock } from './clock-metrics.ts';

/** A step as it counts in the end. */
type StepEntry = Extract<Entry, { type: 'step' | 'step_skipped' }>;

export interface RunRecord {
  /** By `stage_index-stage/step kind`: SHA-256 of each file that training or a resume depends on. */
  readonly checkpoints: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly evaluations: readonly Omit<Evaluation, 'attempt'>[];
  /** In the order in which they were learnt from, without what is of the wall clock. */
  readonly steps: readonly StepEntry[];
  /** As the service answers for the series `loss` and `reward`: `stage step key value`. */
  readonly series: readonly string[];
}

/** `events`: all of the job, from the first to the last. */
export async function recordOf(client: Client, job: string, events: readonly JobEvent[]): Promise<RunRecord> {
  return {
    checkpoints: await checkpointsOf(client, job),
    evaluations: (await client.evaluations(job)).data.map(({ attempt: _, ...cell }) => cell),
    steps: stepsOf(events),
    series: await seriesOf(client, job),
  };
}

/** What stays of the steps once each attempt has gone back to the checkpoint that it went on from. */
export function stepsOf(events: readonly JobEvent[]): StepEntry[] {
  const done: StepEntry[] = [];
  for (const { body } of events) {
    if (body.type === 'rewound')
      done.length =
        1 + done.findLastIndex(({ stage, step }) => stage === body.stage && step === body.to_step);
    if (body.type === 'step' || body.type === 'step_skipped')
      done.push({ ...body, metrics: withoutClock(body.metrics) });
  }
  return done;
}

/** Of the last attempt that kept it, where several did. */
async function checkpointsOf(client: Client, job: string): Promise<RunRecord['checkpoints']> {
  const kept: Record<string, Record<string, string>> = {};
  for await (const { stage_index, stage, step, kind, files } of client.all(
    (query) => client.checkpoints(job, query),
    { limit: 100 },
  ))
    kept[`${stage_index}-${stage}/${step} ${kind}`] = Object.fromEntries(
      files
        .filter(({ name }) => /\.safetensors$|^trainer\//.test(name))
        .map(({ name, sha256 }) => [name, sha256]),
    );
  return kept;
}

async function seriesOf(client: Client, job: string): Promise<string[]> {
  const points = [];
  for (const key of ['loss', 'reward'])
    for await (const { stage, step, mode, value } of client.all(
      (query) => client.metrics(job, { ...query, key }),
      { limit: 1000 },
    ))
      points.push(`${stage} ${step} ${mode} ${key} ${value}`);
  return points;
}

/** One hash of it all, to be told in a line. */
export const digestOf = (record: RunRecord): string =>
  createHash('sha256').update(JSON.stringify(record)).digest('hex');

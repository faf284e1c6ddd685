// Clock work against a real database and store: a job that ran, checkpoints with files, turns of cleaning.
import { pino } from 'pino';
import { eq } from 'drizzle-orm';
import type { Client } from '../../api/client.ts';
import type { ClockServices } from '../../api/clock-work.ts';
import type { CheckpointCommit } from '../../api/contract/checkpoint.ts';
import { createMetrics } from '../../api/metrics/metrics.ts';
import type { Keep } from '../../api/retention/keep.ts';
import { defaultKeep } from '../../api/retention/keep.ts';
import { Outgoing } from '../../api/outgoing.ts';
import type { Database } from '../../db/connect.ts';
import { passes } from '../../db/retention/table.ts';
import { jobs } from '../../db/schema.ts';
import type { ObjectStore } from '../../store/store.ts';
import { claimOne, registerDatasets, spec, type Fenced, type Fixture } from './support.ts';

export const day = 86_400_000;

/** Objects of tests are young: `now` lies so far ahead as they must be old. */
export const clockOf = (
  { database, store }: Pick<Fixture, 'database' | 'store'>,
  { keep, ahead = 0 }: { keep?: Partial<Keep>; ahead?: number } = {},
): ClockServices => ({
  db: database.db,
  store,
  log: pino({ enabled: false }),
  metrics: createMetrics(),
  now: () => new Date(Date.now() + ahead),
  outgoing: new Outgoing({ allowPrivate: true }),
  keep: { ...defaultKeep, ...keep },
  signal: new AbortController().signal,
});

/** Passes that were through are due again. */
export const passesDue = (db: Database) => db.delete(passes);

export async function keysIn(store: ObjectStore, prefix: string): Promise<string[]> {
  const entries = await Array.fromAsync(store.list(prefix));
  return entries.map(({ key }) => key.slice(prefix.length));
}

export interface RunningJob {
  readonly id: string;
  readonly fence: Fenced;
}

/** A job of the project's own, claimed. */
export async function runningJob(client: Client, changes: Record<string, unknown> = {}): Promise<RunningJob> {
  await registerDatasets(client);
  const { id } = await client.createJob(spec(changes));
  const { fence } = await claimOne(client);
  if (fence.job !== id) throw new Error(`${fence.job} was claimed, not ${id}`);
  return { id, fence };
}

/** Committed, with its files in the store. */
export async function commitAt(
  { store }: Pick<Fixture, 'store'>,
  client: Client,
  { id, fence }: RunningJob,
  step: number,
  changes: Partial<CheckpointCommit> = {},
): Promise<string> {
  const prefix = `jobs/${id}/a${fence.attempt}/0-sft/step-${String(step).padStart(6, '0')}/`;
  await store.put(`${prefix}model.safetensors`, Buffer.from('weights'));
  await store.put(`${prefix}manifest.json`, Buffer.from('{}'));
  const checkpoint: CheckpointCommit = {
    stage: 'sft',
    stage_index: 0,
    step,
    kind: 'step',
    prefix,
    manifest_sha256: 'a'.repeat(64),
    size: 7,
    files: [{ name: 'model.safetensors', size: 7, sha256: 'a'.repeat(64) }],
    ...changes,
  };
  return (await client.runner.checkpoint({ ...fence, checkpoint })).id;
}

export const succeed = (client: Client, { fence }: RunningJob) =>
  client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });

/** Its end, and that of its attempts, lies so long ago. */
export async function endedAgo(
  { database: { db, sql } }: Pick<Fixture, 'database'>,
  id: string,
  ms: number,
): Promise<void> {
  const at = new Date(Date.now() - ms);
  await db.update(jobs).set({ finishedAt: at }).where(eq(jobs.id, id));
  await sql`update attempts set ended_at = ${at.toISOString()} where job_id = ${id} and ended_at is not null`;
}

// What database tests set up: a project, a runner, datasets, jobs in a given state. Rows are made by the
// product's own statements wherever one exists.
import { randomBytes } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import type { CheckpointCommit } from '../../api/contract/checkpoint.ts';
import { validationReport } from '../../api/contract/dataset.ts';
import { expandSpec } from '../../api/contract/expand.ts';
import type { JobState } from '../../api/contract/job.ts';
import type { RegisterRequest } from '../../api/contract/runner.ts';
import { jobSpec, type JobSpecInput } from '../../api/contract/spec.ts';
import type { Database } from '../../db/connect.ts';
import { insertDataset } from '../../db/datasets.ts';
import { insertJob as insertJobRow } from '../../db/jobs/insert.ts';
import { ensureProject } from '../../db/projects.ts';
import { claimJob, type ClaimedJob } from '../../db/queue/claim.ts';
import type { Fence } from '../../db/queue/fence.ts';
import { registerRunner } from '../../db/runners.ts';
import { events, jobs } from '../../db/schema.ts';
import { moves } from '../../db/states.ts';

export const leaseMs = 30_000;

const random = () => randomBytes(6).toString('hex');

export async function insertProject(db: Database): Promise<string> {
  return await ensureProject(db, `project-${random()}`);
}

export async function insertRunner(
  db: Database,
  projectId: string,
  properties: Partial<RegisterRequest> = {},
): Promise<string> {
  const defaults = { protocol: 1, accelerator: 'cpu', memory_gb: 8, labels: {}, version: '0.1.0' } as const;
  const runner = { ...defaults, name: `runner-${random()}`, ...properties };
  return (await registerRunner(db, { projectId }, runner))!;
}

export async function insertReadyDataset(db: Database, projectId: string): Promise<string> {
  const row = await insertDataset(db, {
    projectId,
    name: `data-${random()}`,
    kind: 'sft',
    state: 'ready',
    rows: 1,
    size: 2,
    sha256: 'a'.repeat(64),
    key: 'datasets/one.jsonl',
    report: validationReport.parse({ rows: 1, broken: 0, issues: [], unproven: 1 }),
  });
  if (row === undefined) throw new Error('the dataset was not inserted');
  return row.id;
}

export function sftSpec(data: string, envelope: Partial<JobSpecInput> = {}): JobSpecInput {
  return {
    type: 'sft',
    model: { init: { from: 'hf', uri: '/models/tiny' } },
    stage: { kind: 'sft', data },
    ...envelope,
  } as JobSpecInput;
}

interface JobOptions {
  projectId: string;
  state?: JobState;
  spec?: Partial<JobSpecInput>;
}

/** A job brought to `state` along legal moves. It has no attempt: for that, claim it. */
export async function insertJob(db: Database, options: JobOptions): Promise<string> {
  const data = await insertReadyDataset(db, options.projectId);
  const spec = sftSpec(data, options.spec);
  const expanded = expandSpec(jobSpec.parse(spec), new Map([[data, data]]));
  const { id } = await insertJobRow(db, { projectId: options.projectId, spec, expanded });
  for (const state of pathTo(options.state ?? 'queued')) {
    await db.update(jobs).set({ state }).where(eq(jobs.id, id));
  }
  return id;
}

/** The shortest way from `queued`, without `queued` itself. */
function pathTo(target: JobState): JobState[] {
  const paths: JobState[][] = [[]];
  for (const path of paths) {
    const at = path.at(-1) ?? 'queued';
    if (at === target) return path;
    paths.push(...moves[at].filter((to) => !path.includes(to)).map((to) => [...path, to]));
  }
  throw new Error(`no way to ${target}`);
}

export interface Running {
  fence: Fence;
  claimed: ClaimedJob;
}

/** A project of its own with one job, claimed by its one runner. */
export async function runningJob(db: Database, spec: Partial<JobSpecInput> = {}): Promise<Running> {
  const projectId = await insertProject(db);
  const runner = await insertRunner(db, projectId);
  await insertJob(db, { projectId, spec });
  return await claimAgain(db, { projectId, runner });
}

/** Claims the job that is free, or fails the test. */
export async function claimAgain(db: Database, of: { projectId: string; runner: string }): Promise<Running> {
  const claimed = await claimJob(db, { ...of, leaseMs });
  if (claimed === undefined || claimed === 'unknown_runner')
    throw new Error(`nothing was claimed: ${claimed}`);
  const { job } = claimed;
  return {
    claimed,
    fence: { projectId: of.projectId, runner: of.runner, job: job.id, attempt: job.attempt },
  };
}

/** Moves time for one job: its lease ran out, its back-off is over. */
export async function backdate(db: Database, id: string): Promise<void> {
  await db
    .update(jobs)
    .set({
      leaseExpiresAt: sql`lease_expires_at - interval '1 day'`,
      availableAt: sql`available_at - interval '1 day'`,
    })
    .where(eq(jobs.id, id));
}

export async function jobRow(db: Database, id: string) {
  const [row] = await db.select().from(jobs).where(eq(jobs.id, id));
  if (row === undefined) throw new Error(`no job ${id}`);
  return row;
}

export async function bodiesOf(db: Database, id: string) {
  const rows = await db.select().from(events).where(eq(events.jobId, id)).orderBy(events.seq);
  return rows.map((row) => row.body);
}

export async function seqsOf(db: Database, id: string): Promise<number[]> {
  const rows = await db
    .select({ seq: events.seq })
    .from(events)
    .where(eq(events.jobId, id))
    .orderBy(events.seq);
  return rows.map((row) => row.seq);
}

/** 1, 2, 3 … `length`. */
export const upTo = (length: number): number[] => Array.from({ length }, (_, index) => index + 1);

export function checkpointAt(fence: Fence, step: number): CheckpointCommit {
  return {
    stage: 'sft',
    stage_index: 0,
    step,
    kind: 'step',
    prefix: `jobs/${fence.job}/attempts/${fence.attempt}/checkpoints/sft-${step}/`,
    manifest_sha256: 'b'.repeat(64),
    size: 10,
    files: [{ name: 'model.safetensors', size: 10, sha256: 'c'.repeat(64) }],
  };
}

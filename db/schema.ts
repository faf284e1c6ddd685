// The tables of jobs and of what belongs to them; others lie beside what they serve (db/*/table.ts, db/queue/tables.ts). Shapes that cross the
// wire come from api/contract; this file says how they are kept.
// Owned rows carry project_id. State, events and their numbers are guarded by triggers (state-guard.ts).
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  doublePrecision,
  foreignKey,
  index,
  integer,
  pgSequence,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  type AnyPgColumn,
} from 'drizzle-orm/pg-core';
import type { CheckpointCommit } from '../api/contract/checkpoint.ts';
import type { Dataset } from '../api/contract/dataset.ts';
import type { EvaluationCell, EventBody } from '../api/contract/event.ts';
import type { MetricPoint } from '../api/contract/results.ts';
import type { ExpandedSpec } from '../api/contract/expand.ts';
import type { CodeLanguage, Grader } from '../api/contract/grader.ts';
import type { FailureReason, JobState, Progress } from '../api/contract/job.ts';
import type { Accelerator } from '../api/contract/names.ts';
import type { SampleIndex } from '../api/contract/results.ts';
import type { Outcome } from '../api/contract/runner.ts';
import type { JobSpecInput } from '../api/contract/spec.ts';
import type { DatasetKind } from '../api/contract/task.ts';
import { foreignText, json } from './json.ts';
import { claimable, queueColumns } from './queue/columns.ts';

export const time = (name: string) => timestamp(name, { withTimezone: true, precision: 3 });
export const createdAt = () => time('created_at').notNull().defaultNow();
const count = (name: string) => bigint(name, { mode: 'number' });
export const languagesColumn = () =>
  text('languages')
    .array()
    .$type<CodeLanguage[]>()
    .notNull()
    .default(sql`'{}'`);
const modeColumn = () => text('mode').$type<EvaluationCell['mode']>().notNull();

export const projects = pgTable('projects', {
  id: text('id').primaryKey(),
  name: text('name').notNull().unique(),
  /** Jobs that run at a time; null: no limit. */
  maxRunning: integer('max_running'),
  /** Its share of shared runners, relative to other projects. */
  weight: doublePrecision('weight').notNull().default(1),
  /** When a shared runner last took a job of it. */
  servedAt: time('served_at'),
  createdAt: createdAt(),
});

export const ownedBy = () =>
  text('project_id')
    .notNull()
    .references(() => projects.id);

/** The first answer to each Idempotency-Key; `status` and `response` are null only inside the transaction that works it out. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    projectId: ownedBy(),
    key: text('key').notNull(),
    requestHash: text('request_hash').notNull(),
    status: integer('status'),
    response: json<unknown>('response'),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.key] })],
);

export const datasets = pgTable(
  'datasets',
  {
    id: text('id').primaryKey(),
    projectId: ownedBy(),
    name: text('name').notNull(),
    kind: text('kind').$type<DatasetKind>().notNull(),
    state: text('state').$type<Dataset['state']>().notNull(),
    rows: integer('rows').notNull(),
    size: count('size').notNull(),
    sha256: text('sha256').notNull(),
    key: text('key').notNull(),
    grader: json<Grader>('grader'),
    report: json<Dataset['report']>('report').notNull(),
    message: foreignText('message'),
    createdAt: createdAt(),
  },
  (table) => [unique('datasets_name').on(table.projectId, table.name)],
);

export const runners = pgTable(
  'runners',
  {
    id: text('id').primaryKey(),
    projectId: ownedBy(),
    name: text('name').notNull(),
    accelerator: text('accelerator').$type<Accelerator>().notNull(),
    memoryGb: doublePrecision('memory_gb').notNull(),
    labels: json<Record<string, string>>('labels').notNull(),
    grader: boolean('grader').notNull().default(false),
    languages: languagesColumn(),
    missing: json<Record<string, string>>('missing')
      .notNull()
      .default(sql`'{}'`),
    version: text('version').notNull(),
    /** Serves every project; project_id is then that of its key. */
    shared: boolean('shared').notNull().default(false),
    registeredAt: time('registered_at').notNull().defaultNow(),
    lastSeenAt: time('last_seen_at').notNull().defaultNow(),
  },
  (table) => [unique('runners_name').on(table.projectId, table.name)],
);

/** Read by versions before decision 0022 alone; to be dropped by the one after it. */
export const jobArrival = pgSequence('job_arrival');

/** The job row is the queue entry: claims take the free row with the smallest ordering key. */
export const jobs = pgTable(
  'jobs',
  {
    id: text('id').primaryKey(),
    projectId: ownedBy(),
    type: text('type').$type<ExpandedSpec['type']>().notNull(),
    name: text('name'),
    labels: json<Record<string, string>>('labels').notNull(),
    spec: json<JobSpecInput>('spec').notNull(),
    expanded: json<ExpandedSpec>('expanded').notNull(),
    specVersion: integer('spec_version').notNull(),

    state: text('state').$type<JobState>().notNull().default('queued'),
    reason: text('reason').$type<FailureReason>(),
    message: foreignText('message'),
    progress: json<Progress>('progress'),
    eventSeq: count('event_seq').notNull().default(0),

    priority: integer('priority').notNull(),
    orderingKey: count('ordering_key').notNull(),
    accelerator: text('accelerator').$type<Accelerator>().notNull(),
    minMemoryGb: doublePrecision('min_memory_gb').notNull(),
    runnerLabels: json<Record<string, string>>('runner_labels').notNull(),
    datasetIds: text('dataset_ids').array().notNull(),
    languages: languagesColumn(),
    availableAt: time('available_at').notNull().defaultNow(),

    attempt: integer('attempt').notNull().default(0),
    maxAttempts: integer('max_attempts').notNull(),
    failuresWithoutCheckpoint: integer('failures_without_checkpoint').notNull().default(0),
    runnerId: text('runner_id').references(() => runners.id),
    leaseExpiresAt: time('lease_expires_at'),
    lastCheckpointId: text('last_checkpoint_id'),
    passedGates: integer('passed_gates')
      .array()
      .notNull()
      .default(sql`'{}'`),
    ...queueColumns(),
    // Both are filled by the database, from the spec, when the row is inserted (migrations, job_references).
    refersTo: text('refers_to')
      .array()
      .notNull()
      .default(sql`'{}'`),
    keepLast: integer('keep_last'),

    createdAt: createdAt(),
    startedAt: time('started_at'),
    finishedAt: time('finished_at'),
  },
  (table) => [
    index('jobs_claimable').on(table.projectId, table.requirements, table.orderingKey).where(claimable),
    index('jobs_delayed')
      .on(table.availableAt)
      .where(sql`state = 'queued' and delayed`),
    index('jobs_awaiting_data')
      .on(table.projectId)
      .where(sql`awaits_data`),
    // Not on lease_expires_at: a heartbeat would then rewrite the index. Few jobs are held at a time.
    index('jobs_held')
      .on(table.projectId)
      .where(sql`state in ('running', 'pausing', 'cancelling')`),
    index('jobs_list').on(table.projectId, table.id),
    index('jobs_ended').on(table.finishedAt, table.id),
    index('jobs_thinned')
      .on(table.id)
      .where(sql`keep_last is not null`),
    index('jobs_references')
      .using('gin', table.refersTo)
      .where(sql`state not in ('succeeded', 'failed', 'cancelled') and refers_to <> '{}'`),
  ],
);

const ofJob = () =>
  text('job_id')
    .notNull()
    .references(() => jobs.id, { onDelete: 'cascade' });

export const attempts = pgTable(
  'attempts',
  {
    jobId: ofJob(),
    attempt: integer('attempt').notNull(),
    projectId: ownedBy(),
    runnerId: text('runner_id')
      .notNull()
      .references(() => runners.id),
    resumedFrom: text('resumed_from'),
    checkpoints: integer('checkpoints').notNull().default(0),
    logBytes: count('log_bytes').notNull().default(0),
    startedAt: time('started_at').notNull().defaultNow(),
    endedAt: time('ended_at'),
    outcome: text('outcome').$type<Outcome['type']>(),
    reason: text('reason').$type<FailureReason>(),
    message: foreignText('message'),
    /** When objects that nothing names were looked for, after its end. */
    sweptAt: time('swept_at'),
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.attempt] }),
    index('attempts_unswept')
      .on(table.endedAt)
      .where(sql`swept_at is null`),
  ],
);

// Filled from the job row in SQL: a foreign key check for each metric would buy nothing.
const copiedProject = () => text('project_id').notNull();

const ofAttempt = (jobId: AnyPgColumn, attempt: AnyPgColumn) =>
  foreignKey({ columns: [jobId, attempt], foreignColumns: [attempts.jobId, attempts.attempt] }).onDelete(
    'cascade',
  );

/** The log of an attempt in pieces; `start` is the offset of a piece in bytes of the whole log. Old pieces are dropped. */
export const logPieces = pgTable(
  'log_pieces',
  {
    jobId: text('job_id').notNull(),
    attempt: integer('attempt').notNull(),
    projectId: copiedProject(),
    start: count('start').notNull(),
    bytes: integer('bytes').notNull(),
    text: foreignText('text').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.attempt, table.start] }),
    ofAttempt(table.jobId, table.attempt),
  ],
);

/** Which reports have been applied: a second insert of the same number is a resend. */
export const runnerReports = pgTable(
  'runner_reports',
  {
    jobId: text('job_id').notNull(),
    attempt: integer('attempt').notNull(),
    sequence: integer('sequence').notNull(),
    projectId: copiedProject(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.attempt, table.sequence] }),
    ofAttempt(table.jobId, table.attempt),
  ],
);

export const events = pgTable(
  'events',
  {
    jobId: ofJob(),
    seq: count('seq').notNull(),
    projectId: copiedProject(),
    attempt: integer('attempt').notNull(),
    body: json<EventBody>('body').notNull(),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.jobId, table.seq] })],
);

/** One point of a series; `seq` is the event that brought it, so a page of points is in order of time. */
export const metrics = pgTable(
  'metrics',
  {
    jobId: ofJob(),
    stage: text('stage').notNull(),
    phase: integer('phase').notNull(),
    step: integer('step').notNull(),
    mode: text('mode').$type<MetricPoint['mode']>().notNull(),
    key: text('key').notNull(),
    value: doublePrecision('value'),
    projectId: copiedProject(),
    attempt: integer('attempt').notNull(),
    seq: count('seq').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.stage, table.phase, table.step, table.mode, table.key] }),
    index('metrics_series').on(table.jobId, table.seq),
  ],
);

/** The stage x suite x mode matrix; `after` is the stage, or `initial`, and `step` a step within it, null at its end. */
export const evaluations = pgTable(
  'evaluations',
  {
    jobId: ofJob(),
    after: text('after').notNull(),
    step: integer('step'),
    suite: text('suite').notNull(),
    domain: text('domain').notNull(),
    mode: modeColumn(),
    metric: text('metric').notNull(),
    value: doublePrecision('value').notNull(),
    low: doublePrecision('low').notNull(),
    high: doublePrecision('high').notNull(),
    tasks: integer('tasks').notNull(),
    values: json<NonNullable<EvaluationCell['values']>>('values'),
    projectId: copiedProject(),
    attempt: integer('attempt').notNull(),
    seq: count('seq').notNull(),
  },
  (table) => [
    // Not a primary key: the end of a stage has no step, and is one place all the same.
    unique('evaluations_cell')
      .on(table.jobId, table.after, table.step, table.suite, table.mode, table.metric)
      .nullsNotDistinct(),
  ],
);

/** Index of kept rollouts: the text lies in the store, in the shard `key` at `line`. */
export const samples = pgTable(
  'samples',
  {
    id: count('id').primaryKey().generatedAlwaysAsIdentity(),
    jobId: ofJob(),
    projectId: copiedProject(),
    attempt: integer('attempt').notNull(),
    stage: text('stage').notNull(),
    phase: integer('phase').notNull(),
    step: integer('step').notNull(),
    key: text('key').notNull(),
    line: integer('line').notNull(),
    task: integer('task').notNull(),
    rollout: integer('rollout').notNull(),
    mode: modeColumn(),
    status: text('status').$type<SampleIndex['status']>().notNull(),
    reward: doublePrecision('reward'),
  },
  (table) => [
    unique('samples_line').on(table.jobId, table.key, table.line),
    index('samples_step').on(table.jobId, table.stage, table.step),
  ],
);

export const checkpoints = pgTable(
  'checkpoints',
  {
    id: text('id').primaryKey(),
    jobId: ofJob(),
    projectId: ownedBy(),
    attempt: integer('attempt').notNull(),
    stage: text('stage').notNull(),
    stageIndex: integer('stage_index').notNull(),
    step: integer('step').notNull(),
    kind: text('kind').$type<CheckpointCommit['kind']>().notNull(),
    prefix: text('prefix').notNull(),
    manifestSha256: text('manifest_sha256').notNull(),
    size: count('size').notNull(),
    files: json<CheckpointCommit['files']>('files').notNull(),
    pinnedAt: time('pinned_at'),
    createdAt: createdAt(),
  },
  (table) => [
    unique('checkpoints_prefix').on(table.jobId, table.prefix),
    index('checkpoints_list').on(table.projectId, table.jobId, table.id),
  ],
);

export type ProjectRow = typeof projects.$inferSelect;
export type JobRow = typeof jobs.$inferSelect;
export type EventRow = typeof events.$inferSelect;
export type MetricRow = typeof metrics.$inferSelect;
export type EvaluationRow = typeof evaluations.$inferSelect;
export type SampleRow = typeof samples.$inferSelect;
export type CheckpointRow = typeof checkpoints.$inferSelect;
export type DatasetRow = typeof datasets.$inferSelect;
export type RunnerRow = typeof runners.$inferSelect;

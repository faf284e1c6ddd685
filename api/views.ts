// From rows to what crosses the wire. Only renaming: whatever is computed is computed in a statement.
import type { AuditRow } from '../db/audit/table.ts';
import type { ErrandSummaryRow } from '../db/errands/get.ts';
import type { KeyRow } from '../db/keys/table.ts';
import type {
  CheckpointRow,
  DatasetRow,
  EvaluationRow,
  EventRow,
  JobRow,
  MetricRow,
  ProjectRow,
  RunnerRow,
} from '../db/schema.ts';
import type { AuditEntry } from './contract/audit.ts';
import type { Checkpoint } from './contract/checkpoint.ts';
import type { Dataset } from './contract/dataset.ts';
import type { JobEvent } from './contract/event.ts';
import type { Errand } from './contract/errand.ts';
import type { Job, JobDetail } from './contract/job.ts';
import type { Key } from './contract/keys.ts';
import type { Project } from './contract/project.ts';
import type { Evaluation, MetricPoint } from './contract/results.ts';
import type { ClaimedCheckpoint, Runner } from './contract/runner.ts';

const at = (time: Date): string => time.toISOString();
const atOrNull = (time: Date | null): string | null => time?.toISOString() ?? null;

export type JobSummaryRow = Omit<JobRow, 'spec' | 'expanded'>;

export const jobView = (row: JobSummaryRow): Job => ({
  id: row.id,
  type: row.type,
  name: row.name,
  state: row.state,
  reason: row.reason,
  message: row.message,
  attempt: row.attempt,
  runner: row.runnerId,
  progress: row.progress,
  last_checkpoint: row.lastCheckpointId,
  retry_of: row.retryOf,
  fork_of: row.forkOf,
  began_from: row.beganFrom,
  spec_version: row.specVersion,
  labels: row.labels,
  priority: row.priority,
  created_at: at(row.createdAt),
  started_at: atOrNull(row.startedAt),
  finished_at: atOrNull(row.finishedAt),
});

/** `spec` is as it was posted: less than its defaults filled in, which is what the type says. */
export const jobDetailView = (row: JobRow): JobDetail => ({
  ...jobView(row),
  spec: row.spec as JobDetail['spec'],
  expanded: row.expanded,
});

export const eventView = (row: EventRow): JobEvent => ({
  seq: row.seq,
  attempt: row.attempt,
  created_at: at(row.createdAt),
  body: row.body,
});

export const metricView = ({ stage, phase, step, mode, key, value, attempt }: MetricRow): MetricPoint => ({
  stage,
  phase,
  step,
  mode,
  key,
  value,
  attempt,
});

export const evaluationView = (row: EvaluationRow): Evaluation => ({
  suite: row.suite,
  domain: row.domain,
  mode: row.mode,
  metric: row.metric,
  value: row.value,
  low: row.low,
  high: row.high,
  tasks: row.tasks,
  after: row.after,
  step: row.step,
  attempt: row.attempt,
  ...(row.values !== null && { values: row.values }),
});

export const projectView = (row: ProjectRow): Project => ({
  id: row.id,
  name: row.name,
  max_running: row.maxRunning,
  weight: row.weight,
  created_at: at(row.createdAt),
});

/** Neither the secret, which nobody has, nor its hash. */
export const keyView = (row: KeyRow): Key => ({
  id: row.id,
  project: row.projectId,
  name: row.name,
  scopes: row.scopes,
  prefix: row.prefix,
  created_at: at(row.createdAt),
  expires_at: atOrNull(row.expiresAt),
  last_used_at: atOrNull(row.lastUsedAt),
  revoked_at: atOrNull(row.revokedAt),
  replaced_by: row.replacedBy,
});

export const auditView = (row: AuditRow): AuditEntry => ({
  id: row.id,
  created_at: at(row.createdAt),
  project: row.projectId,
  key: { id: row.keyId, name: row.keyName },
  method: row.method,
  route: row.route,
  thing: row.thing,
  made: row.made,
  status: row.status,
  request: row.requestId,
});

export const claimedCheckpointView = (row: CheckpointRow): ClaimedCheckpoint => ({
  id: row.id,
  stage: row.stage,
  stage_index: row.stageIndex,
  step: row.step,
  kind: row.kind,
  prefix: row.prefix,
  manifest_sha256: row.manifestSha256,
  size: row.size,
  files: row.files,
});

export const checkpointView = (row: CheckpointRow): Checkpoint => ({
  ...claimedCheckpointView(row),
  job: row.jobId,
  attempt: row.attempt,
  pinned: row.pinnedAt !== null,
  created_at: at(row.createdAt),
});

export const datasetView = (row: DatasetRow): Dataset => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  state: row.state,
  rows: row.rows,
  size: row.size,
  sha256: row.sha256,
  grader: row.grader,
  report: row.report,
  message: row.message,
  created_at: at(row.createdAt),
});

export const errandView = (row: ErrandSummaryRow): Errand => ({
  id: row.id,
  kind: row.kind,
  state: row.state,
  results: row.results,
  dataset: row.datasetId,
  reason: row.reason,
  message: row.message,
  created_at: at(row.createdAt),
  finished_at: atOrNull(row.finishedAt),
});

export const runnerView = (row: RunnerRow, aliveSince: Date): Runner => ({
  id: row.id,
  name: row.name,
  accelerator: row.accelerator,
  memory_gb: row.memoryGb,
  labels: row.labels,
  grader: row.grader,
  languages: row.languages,
  missing: row.missing,
  version: row.version,
  alive: row.lastSeenAt >= aliveSince,
  registered_at: at(row.registeredAt),
  last_seen_at: at(row.lastSeenAt),
});

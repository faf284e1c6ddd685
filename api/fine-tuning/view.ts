// Jobs as OpenAI's API tells of them.
import type { FineTuning } from '../../db/fine-tuning.ts';
import type { CheckpointRow, JobRow } from '../../db/schema.ts';
import type {
  FineTuningCheckpoint,
  FineTuningJob,
  FineTuningMethod,
  FineTuningStatus,
} from '../contract/fine-tuning.ts';
import type { JobState } from '../contract/job.ts';
import { secondsOf } from '../files/view.ts';

/** A job that is pausing or cancelling still runs. */
const statuses: Readonly<Record<JobState, FineTuningStatus>> = {
  queued: 'queued',
  running: 'running',
  pausing: 'running',
  paused: 'paused',
  cancelling: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

export function fineTuningView({ asked, job, validating, tokens }: FineTuning, now: Date): FineTuningJob {
  const succeeded = job.state === 'succeeded';
  return {
    id: job.id,
    object: 'fine_tuning.job',
    created_at: secondsOf(job.createdAt),
    finished_at: job.finishedAt === null ? null : secondsOf(job.finishedAt),
    model: asked.model,
    fine_tuned_model: succeeded ? job.lastCheckpointId : null,
    organization_id: job.projectId,
    status: job.state === 'queued' && validating ? 'validating_files' : statuses[job.state],
    hyperparameters: hyperparametersOf(asked.method),
    method: asked.method,
    training_file: asked.trainingFile,
    validation_file: asked.validationFile,
    result_files: succeeded ? [resultFileId(job.id)] : [],
    trained_tokens: succeeded && tokens !== null ? Math.round(tokens) : null,
    error: job.state === 'failed' ? errorOf(job) : null,
    estimated_finish: estimateOf(job, now),
    seed: job.expanded.seed,
    metadata: asked.metadata,
    integrations: [],
    user_provided_suffix: asked.suffix,
  };
}

function hyperparametersOf(method: FineTuningMethod): FineTuningJob['hyperparameters'] {
  const all =
    method.type === 'supervised' ? method.supervised?.hyperparameters : method.reinforcement.hyperparameters;
  const numbers = {
    n_epochs: all?.n_epochs,
    batch_size: all?.batch_size,
    learning_rate_multiplier: all?.learning_rate_multiplier,
  };
  return Object.fromEntries(Object.entries(numbers).filter(([, value]) => typeof value === 'number'));
}

function errorOf({ reason, message }: JobRow): NonNullable<FineTuningJob['error']> {
  return {
    code: reason ?? 'failed',
    message: message ?? 'the job has failed',
    param: reason === 'invalid_data' ? 'training_file' : null,
  };
}

/** By the pace of the last steps; such a job has one stage. */
function estimateOf({ state, progress }: JobRow, now: Date): number | null {
  const left = progress?.seconds_left ?? null;
  return state === 'running' && left !== null ? secondsOf(now) + Math.ceil(left) : null;
}

/** A file of results is the job's own: both ids end alike. */
export const resultFileId = (job: string): string => job.replace(/^job_/, 'file_');
export const jobOfResultFile = (file: string): string => file.replace(/^file_/, 'job_');

export const fineTuningCheckpointView = (
  { id, createdAt, jobId, step }: CheckpointRow,
  metrics: Readonly<Record<string, number>>,
): FineTuningCheckpoint => ({
  id,
  object: 'fine_tuning.job.checkpoint',
  created_at: secondsOf(createdAt),
  fine_tuned_model_checkpoint: id,
  fine_tuning_job_id: jobId,
  step_number: step,
  metrics: { step, ...metrics },
});

// The job as clients see it: states, reasons of failure, progress.
import { z } from 'zod';
import { expandedSpec } from './expand.ts';
import { checkpointId, jobId, labels, name, runnerId, timestamp } from './names.ts';
import { jobSpec } from './spec.ts';

export const jobStates = [
  'queued',
  'running',
  'pausing',
  'paused',
  'cancelling',
  'succeeded',
  'failed',
  'cancelled',
] as const;
export const jobState = z.enum(jobStates);
export type JobState = z.infer<typeof jobState>;

export const terminalStates = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly JobState[];
export const isTerminal = (state: JobState): boolean =>
  (terminalStates as readonly JobState[]).includes(state);

/**
 * Why an attempt or a job failed. `permanent` would fail again alike; `transient` is worth another attempt; `outside`: what is
 * missing is not the job's nor the runner's, so the job is paused until somebody resumes it (unless its spec says otherwise).
 */
export const failureReasons = {
  invalid_data: 'permanent',
  invalid_model: 'permanent',
  diverged: 'permanent',
  teacher_too_far: 'permanent',
  timeout: 'permanent',
  dependency_failed: 'permanent',
  out_of_memory: 'transient',
  trainer_crashed: 'transient',
  stalled: 'transient',
  lease_expired: 'transient',
  store_unavailable: 'transient',
  scratch_full: 'transient',
  runner_stopped: 'transient',
  reward_unavailable: 'outside',
  gate_failed: 'outside',
} as const;
export type FailureReason = keyof typeof failureReasons;
export const failureReason = z.enum(Object.keys(failureReasons) as [FailureReason, ...FailureReason[]]);

/** Where a running job stands. Rates are of the last step. */
export const progress = z
  .object({
    stage: z.string(),
    stage_index: z.number().int(),
    stages: z.number().int(),
    step: z.number().int(),
    steps: z.number().int(),
    reward: z.number().nullish(),
    loss: z.number().nullish(),
    tokens_per_s: z.number().nullish(),
    seconds_left: z.number().nullish().describe('of this stage, at the pace of its last steps'),
  })
  .meta({ id: 'Progress' });
export type Progress = z.infer<typeof progress>;

export const job = z
  .object({
    id: jobId,
    type: z.string(),
    name: z.string().nullable(),
    state: jobState,
    reason: failureReason.nullable(),
    message: z.string().nullable().describe('what happened, where, and what to do'),
    attempt: z.number().int().describe('0 before the first claim'),
    runner: runnerId.nullable(),
    progress: progress.nullable(),
    last_checkpoint: checkpointId.nullable().describe('what the next attempt goes on from'),
    retry_of: jobId.nullable(),
    fork_of: jobId.nullable(),
    began_from: checkpointId.nullable().describe('of a retry or fork: the other job’s checkpoint'),
    spec_version: z.number().int(),
    labels,
    priority: z.number().int(),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'Job' });
export type Job = z.infer<typeof job>;

export const jobDetail = job
  .extend({ spec: jobSpec.describe('as posted'), expanded: expandedSpec })
  .meta({ id: 'JobDetail' });
export type JobDetail = z.infer<typeof jobDetail>;

export const forkRequest = z
  .strictObject({
    stage: name.describe('whose committed end the new job begins from'),
    stages: z
      .array(z.looseObject({}))
      .max(100)
      .optional()
      .describe('what follows, as in a spec; default: the stages that follow in the forked job'),
    spec: z
      .looseObject({})
      .optional()
      .describe(
        'changes of the posted spec as a merge patch (RFC 7396): all but type, preset, model and stages',
      ),
  })
  .meta({ id: 'ForkRequest' });
export type ForkRequest = z.infer<typeof forkRequest>;

// The runner protocol, version 1. Every call of a claimed job names (job, attempt); a call of an attempt that has
// lost its lease is answered 409 `lease_lost` and changes nothing. Reports are numbered, so that a resend is harmless.
import { z } from 'zod';
import { checkpointCommit } from './checkpoint.ts';
import { datasetKind } from './task.ts';
import { entry } from './event.ts';
import { expandedSpec } from './expand.ts';
import { codeLanguage } from './grader.ts';
import { grader } from './grader.ts';
import { failureReason, progress } from './job.ts';
import {
  accelerator,
  checkpointId,
  datasetId,
  int32,
  jobId,
  labels,
  name,
  runnerId,
  sha256,
  timestamp,
} from './names.ts';

export const PROTOCOL_VERSION = 1;

/** What a runner grades with. */
const abilities = {
  grader: z.boolean().default(false).describe('takes errands: grades answers and proves gold'),
  languages: z.array(codeLanguage).max(16).default([]).describe('of code that it can run in a sandbox'),
  missing: z
    .record(z.string().max(63), z.string().max(1_000))
    .default({})
    .describe('why it has no back end for other languages'),
};

export const registerRequest = z.object({
  protocol: z.number().int(),
  name,
  accelerator,
  memory_gb: z.number().min(0).describe('of the accelerator, RAM for cpu; 10^9 bytes'),
  labels: labels.default({}),
  ...abilities,
  version: z.string(),
});
export type RegisterRequest = z.input<typeof registerRequest>;
export const registerResponse = z.object({
  runner: runnerId,
  heartbeat_ms: z.number().int(),
  lease_ms: z.number().int(),
});
export type RegisterResponse = z.infer<typeof registerResponse>;

/** A runner as clients see it. */
export const runner = z
  .object({
    id: runnerId,
    name,
    accelerator,
    memory_gb: z.number(),
    labels,
    ...abilities,
    version: z.string(),
    alive: z.boolean().describe('heard of within the lease time'),
    registered_at: timestamp,
    last_seen_at: timestamp,
  })
  .meta({ id: 'Runner' });
export type Runner = z.infer<typeof runner>;

export const claimRequest = z.object({ runner: runnerId });

const claimedDataset = z.object({
  id: datasetId,
  kind: datasetKind,
  key: z.string(),
  size: z.number().int(),
  sha256,
  proven_by: grader.nullable().default(null).describe('which grader every gold has reached the maximum of'),
});
export const claimedCheckpoint = checkpointCommit.extend({ id: checkpointId });
export type ClaimedCheckpoint = z.infer<typeof claimedCheckpoint>;

/**
 * All that an attempt needs. `resume` is the last committed checkpoint of the job; `init` the one that the spec starts from;
 * `reward_models` those that its graders score with; `teachers` those from outside the job.
 */
export const claim = z
  .object({
    job: jobId,
    attempt: z.number().int().min(1),
    spec: expandedSpec,
    datasets: z.array(claimedDataset),
    init: claimedCheckpoint.nullable(),
    resume: claimedCheckpoint.nullable(),
    reward_models: z.array(claimedCheckpoint).default([]),
    teachers: z.array(claimedCheckpoint).default([]),
    passed_gates: z
      .array(int32)
      .default([])
      .describe('gates of the spec that have paused the job, and whose pause somebody has ended'),
    lease_ms: z.number().int(),
  })
  .meta({ id: 'Claim' });
export type Claim = z.infer<typeof claim>;
export const claimResponse = z.object({
  claim: claim.nullable().describe('null: nothing to do for this runner'),
});

const fenced = { runner: runnerId, job: jobId, attempt: int32.min(1) };

/** An attempt that brings neither progress, nor a sign, nor a report for `stall_timeout` and a minute is ended as `stalled`. */
export const heartbeatRequest = z.object({
  ...fenced,
  progress: progress.nullish(),
  signs: int32
    .min(0)
    .optional()
    .describe('of life, that the trainer and transfers of this attempt have given since it began'),
});
/**
 * `cancel`: stop at once, keep the last checkpoint, then finish as cancelled. `pause`: keep a checkpoint after the step at work,
 * then finish as paused.
 */
export const heartbeatResponse = z.object({
  action: z.enum(['continue', 'pause', 'cancel']),
  lease_ms: z.number().int(),
});
export type HeartbeatAction = z.infer<typeof heartbeatResponse>['action'];

/** `sequence` is 1, 2, 3 … within the attempt. */
export const reportRequest = z.object({
  ...fenced,
  sequence: int32.min(1),
  entries: z.array(entry).max(1000),
  log: z.string().max(262_144).default('').describe('new lines of the attempt’s log'),
});
export type ReportRequest = z.infer<typeof reportRequest>;
export const reportResponse = z.object({
  applied: z.boolean().describe('false: this sequence had been applied before'),
});

export const checkpointRequest = z.object({ ...fenced, checkpoint: checkpointCommit });
export const checkpointResponse = z.object({ id: checkpointId });

/** Which checkpoint of its own job an attempt learns from: the end of a stage, as it was committed. */
export const stageEndRequest = z.object({ ...fenced, stage_index: int32.min(0) });
export const stageEndResponse = z.object({
  checkpoint: claimedCheckpoint.nullable().describe('null: none is committed'),
});

export const outcome = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('succeeded') }),
    z.object({
      type: z.literal('failed'),
      reason: failureReason,
      message: z.string().max(10_000),
      gate: int32.min(0).optional().describe('with gate_failed: which of the spec’s'),
    }),
    z.object({ type: z.literal('paused') }),
    z.object({ type: z.literal('cancelled') }),
    // The runner is wanted back: what was learnt is kept, and another goes on. Nobody has failed.
    z.object({ type: z.literal('released') }),
  ])
  .meta({ id: 'Outcome' });
export type Outcome = z.infer<typeof outcome>;
export const finishRequest = z.object({ ...fenced, outcome, log: z.string().max(262_144).default('') });
export const finishResponse = z.object({ state: z.string() });

// Errands: small work that needs a runner and is no job. `grade` scores a handful of answers, `validate` proves a dataset's
// gold. They are leased and fenced like jobs; every call of a runner names (errand, attempt).
import { z } from 'zod';
import { goldReport } from './dataset.ts';
import { gradeItem, gradeResult, mostItems } from './grade.ts';
import { grader } from './grader.ts';
import { datasetId, errandId, int32, runnerId, sha256, timestamp } from './names.ts';
import { claimedCheckpoint } from './runner.ts';
import { datasetKind } from './task.ts';

export const errandKind = z.enum(['grade', 'validate']);
export type ErrandKind = z.infer<typeof errandKind>;

export const errandState = z.enum(['queued', 'running', 'succeeded', 'failed']);
export type ErrandState = z.infer<typeof errandState>;

/** Why an errand ended without its result. */
export const errandReason = z.enum([
  'runner_lost',
  'grader_crashed',
  'grader_failed',
  'invalid_data',
  'expired',
]);
export type ErrandReason = z.infer<typeof errandReason>;

/** The items were checked when they were posted; the grader reads them again. */
const gradePayload = z.object({
  kind: z.literal('grade'),
  grader,
  items: z.array(gradeItem).min(1).max(mostItems),
});
const validatePayload = z.object({
  kind: z.literal('validate'),
  grader,
  dataset: z.object({ id: datasetId, kind: datasetKind, key: z.string(), size: z.number().int(), sha256 }),
});
export const errandPayload = z.discriminatedUnion('kind', [gradePayload, validatePayload]);
export type ErrandPayload = z.infer<typeof errandPayload>;

/** An errand as clients see it. */
export const errand = z
  .object({
    id: errandId,
    kind: errandKind,
    state: errandState,
    results: z
      .array(gradeResult)
      .nullable()
      .describe('of a grade errand that succeeded, in the items’ order'),
    dataset: datasetId.nullable().describe('whose gold is proven; its report holds what came of it'),
    reason: errandReason.nullable(),
    message: z.string().nullable().describe('what happened, and what to do'),
    created_at: timestamp,
    finished_at: timestamp.nullable().describe('an hour later the errand is forgotten'),
  })
  .meta({ id: 'Errand' });
export type Errand = z.infer<typeof errand>;

export const pendingErrand = z.object({
  errand: errandId.describe('ask GET /v1/errands/{id} for the results'),
});

export const errandClaimRequest = z.object({
  runner: runnerId,
  kinds: z.array(errandKind).min(1).max(2).describe('what the runner has room for now'),
});
export const errandClaim = z.object({
  errand: errandId,
  attempt: z.number().int().min(1),
  payload: errandPayload,
  reward_model: claimedCheckpoint
    .nullable()
    .default(null)
    .describe('what a grader of type preference scores with; null where there is none, or it is gone'),
  lease_ms: z.number().int(),
});
export type ErrandClaim = z.infer<typeof errandClaim>;
export const errandClaimResponse = z.object({
  claim: errandClaim.nullable().describe('null: nothing to do for this runner'),
});

const fenced = { runner: runnerId, errand: errandId, attempt: int32.min(1) };

export const errandHeartbeatRequest = z.object(fenced);
export const errandHeartbeatResponse = z.object({ lease_ms: z.number().int() });

const message = z.string().max(10_000);

/** `again`: by no fault of the errand; it goes back to the queue, for a while where it was not the runner that stopped. */
export const errandOutcome = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('graded'), results: z.array(gradeResult).min(1).max(mostItems) }),
    z.object({ type: z.literal('validated'), report: goldReport }),
    z.object({ type: z.literal('failed'), reason: errandReason, message }),
    z.object({
      type: z.literal('again'),
      reason: z.enum(['runner_stopped', 'store_unavailable', 'scratch_full', 'reward_unavailable']),
      message,
    }),
  ])
  .meta({ id: 'ErrandOutcome' });
export type ErrandOutcome = z.infer<typeof errandOutcome>;
export const errandFinishRequest = z.object({ ...fenced, outcome: errandOutcome });
export const errandFinishResponse = z.object({ state: errandState });

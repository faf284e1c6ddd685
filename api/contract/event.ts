// Events of a job. The trainer emits entries, the runner reports them, the database gives each the job's next
// sequence number. Metrics, evaluations and the samples index are derived from entries when they are stored.
import { z } from 'zod';
import { failureReason, jobState } from './job.ts';
import { accelerator, checkpointId, int32, precision, runnerId, timestamp } from './names.ts';
import { stageMode, thinkingMode } from './stages/common.ts';

/** What asks for none is filed as non_thinking, whatever the template does by itself. */
const mode = thinkingMode;

const at = { stage: z.string(), phase: int32.min(0), step: int32.min(0) };

/** JSON has no NaN and no infinity: a metric that is not finite is null. */
export const metricValues = z.record(z.string().max(100), z.number().nullable());

const ofStep = {
  ...at,
  mode: stageMode.default('non_thinking'),
  modes: z
    .partialRecord(mode, metricValues)
    .optional()
    .describe('of a half_half step: what can be told of each half by itself'),
};

/**
 * One evaluated cell of the stage x suite x mode matrix. `metric` is avg@k, pass@k, win_rate, points, points_share or loss, or
 * of a reward model accuracy, margin or length_correlation; low and high bound its 95 % interval over tasks.
 */
export const evaluationCell = z.object({
  suite: z.string(),
  domain: z.string(),
  mode,
  metric: z.string(),
  value: z.number(),
  low: z.number(),
  high: z.number(),
  tasks: int32,
  values: z
    .array(z.number().nullable())
    .optional()
    .describe(
      'of every task in the order of its rows, null: unscored; what two evaluations are compared by, task by task',
    ),
});
export type EvaluationCell = z.infer<typeof evaluationCell>;

/** `scored`; `invalid` by the answer's own fault; `unscored` by ours. */
export const sampleStatus = z.enum(['scored', 'invalid', 'unscored']);

/** Index row of one kept rollout; its text lies in the shard `key` at `line`. */
export const sampleIndex = z.object({
  line: int32.min(0),
  task: int32.min(0).describe('row of the dataset'),
  rollout: int32.min(0),
  mode,
  status: sampleStatus,
  reward: z.number().nullable(),
});

/** How the sequences of one padded length are trained. */
const lengthPlan = z.object({
  length: int32.min(1).describe('tokens of a padded sequence'),
  rows: int32.min(1).describe('sequences of a micro-batch, at most'),
  activations: z.enum(['kept', 'recomputed']),
  attention_chunk: int32.min(1).nullable().describe('queries of a chunk; null: attention is whole'),
  bytes: z.number().int().min(0).describe('of activations and head in such a micro-batch'),
});

/** Where rollouts are graded: in a step of a stage, or in a suite, after a stage (no step) or within it. */
const graded = {
  stage: z.string().describe('or "initial"'),
  step: int32.min(0).nullable(),
  suite: z.string().nullable(),
};

/** What the trainer says. `step` counts finished optimizer steps of the stage: 1 after the first. */
export const entry = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('stage_started'), stage: z.string(), stage_index: int32, steps: int32 }),
    z.object({ type: z.literal('step'), ...ofStep, metrics: metricValues }),
    z.object({
      type: z.literal('step_skipped'),
      ...ofStep,
      cause: z.string(),
      metrics: metricValues.default({}),
    }),
    z.object({
      type: z.literal('evaluation'),
      after: z.string().describe('the stage, or "initial"'),
      step: int32.min(0).nullish().describe('within the stage; absent: at its end'),
      cells: z.array(evaluationCell),
    }),
    z.object({
      type: z.literal('gate'),
      gate: int32.min(0).describe('of the spec’s gates, from 0'),
      after: z.string(),
      metric: z.string(),
      since: z.string().nullish().describe('where value is a drop: the point that it is counted from'),
      value: z
        .number()
        .describe('of the metric, or how much worse it became; below 0 where it became better'),
      low: z.number(),
      high: z.number(),
      limit: z.number(),
      result: z.enum(['held', 'fired', 'passed']).describe('passed: it fired, and somebody resumed the job'),
    }),
    z.object({
      type: z.literal('teachers'),
      stage: z.string(),
      teachers: z.array(
        z.object({
          domain: z.string(),
          teacher: z.string().describe('stage:NAME, a checkpoint id or a URI: `best` has been chosen'),
          score: z
            .number()
            .nullish()
            .describe('with best: mean over the suites of the domain, by which it was chosen'),
        }),
      ),
    }),
    z.object({
      type: z.literal('teacher_distance'),
      stage: z.string(),
      domain: z.string(),
      teacher: z.string(),
      kl: z
        .number()
        .describe('nats a token: mean of log(policy / teacher) over the answers of the first step'),
      at_most: z.number(),
      result: z.enum(['held', 'warned', 'fired']),
    }),
    z.object({
      type: z.literal('stage_skipped'),
      stage: z.string(),
      stage_index: int32,
      cause: z.string(),
    }),
    z.object({ type: z.literal('samples'), ...at, key: z.string(), rows: z.array(sampleIndex) }),
    z.object({
      type: z.literal('stage_finished'),
      stage: z.string(),
      stage_index: int32,
      cause: z.string().nullish().describe('why it ended before its last step, where it did'),
    }),
    z.object({
      type: z.literal('computing'),
      provider: accelerator,
      device: z.string().describe('adapter and driver, as far as they are known'),
      precision: precision.describe('of products with weights, in training and sampling alike'),
      instead: z.string().nullable().describe('why not the 16 bits that this accelerator is meant to have'),
      memory_bytes: z.number().int().min(0).describe('for activations'),
      cache_tokens: z
        .number()
        .int()
        .min(0)
        .describe('over all rows of the sampler, at most; 0: nothing is sampled'),
    }),
    z.object({ type: z.literal('micro_batches'), ...at, plans: z.array(lengthPlan).min(1) }),
    z.object({
      type: z.literal('reward_waiting'),
      ...graded,
      unscored: int32,
      of: int32.describe('rollouts of the batch'),
      code: z.string().describe('of most of them'),
      detail: z.string().max(1000).nullable(),
    }),
    z.object({ type: z.literal('reward_resumed'), ...graded, waited_s: z.number().min(0) }),
    z.object({
      type: z.literal('preference_pairs'),
      stage: z.string(),
      trained: int32,
      held_out: int32,
      identical: int32.describe(
        'rows whose answers are the same to the model: they prefer nothing, and are left out',
      ),
      identical_rows: z.array(int32).describe('the first of them'),
      chosen_longer: z.number().describe('share of the pairs whose chosen answer has more tokens'),
    }),
    z.object({
      type: z.literal('data_overlap'),
      stage: z.string(),
      other: z.string().describe('the stage before it, or the suite, that it shares rows with'),
      other_is: z.enum(['stage', 'suite']),
      shares: z.enum(['prompt', '9-gram']),
      rows: int32.min(1).describe('rows of the stage that share something'),
      of: int32.min(1),
      examples: z.array(z.tuple([int32, int32])).describe('row of the stage, row of the other'),
    }),
    z.object({ type: z.literal('rewound'), stage: z.string(), to_step: int32 }),
    z.object({ type: z.literal('resume_inexact'), differences: z.array(z.string()) }),
  ])
  .meta({ id: 'Entry' });
export type Entry = z.infer<typeof entry>;

/** What the service itself adds. */
export const serviceEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('state'),
    from: jobState.nullable(),
    to: jobState,
    reason: failureReason.nullish(),
    message: z.string().nullish(),
  }),
  z.object({ type: z.literal('attempt_started'), runner: runnerId, resumed_from: checkpointId.nullable() }),
  z.object({
    type: z.literal('attempt_failed'),
    reason: failureReason,
    message: z.string(),
    retry_at: timestamp.nullable(),
  }),
  z.object({
    type: z.literal('checkpoint'),
    checkpoint: checkpointId,
    stage: z.string(),
    step: z.number().int(),
  }),
]);

export const eventBody = z.union([entry, serviceEvent]);
export type EventBody = z.infer<typeof eventBody>;

/** `seq` starts at 1 for each job, without gap; it is the SSE id. */
export const jobEvent = z
  .object({
    seq: z.number().int(),
    attempt: z.number().int(),
    created_at: timestamp,
    body: eventBody,
  })
  .meta({ id: 'JobEvent' });
export type JobEvent = z.infer<typeof jobEvent>;

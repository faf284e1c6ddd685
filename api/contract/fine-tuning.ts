// Fine-tuning jobs as OpenAI's API has them: what is posted, what is answered. Behind each stands a job like any other, by
// the same id. A field of theirs that has no counterpart here is refused by name.
import { z } from 'zod';
import { openAiPage, seconds } from './file.ts';
import { fineTuningGrader } from './fine-tuning-grader.ts';
import { wholeNumber } from './list.ts';
import { checkpointId, fileId, jobId, name } from './names.ts';
import { only, unsupported } from './openai-refused.ts';
import { batch, count, epochs, positive } from './stages/common.ts';

const auto = <T extends z.ZodType>(value: T) => z.union([z.literal('auto'), value]).nullish();

const pace = {
  n_epochs: auto(epochs).describe('auto: 1'),
  learning_rate_multiplier: auto(positive.max(1e6)).describe('of the stage’s default; auto: 1'),
};

const supervisedHyperparameters = z.strictObject({
  ...pace,
  batch_size: auto(batch).describe('answers in one step; auto: 0.2 % of them, 1 to 256'),
  max_length: count
    .nullish()
    .describe('not OpenAI’s: tokens of a row; default: the stage’s, or the model’s context'),
});

const reinforcementHyperparameters = z.strictObject({
  ...pace,
  batch_size: auto(batch).describe('prompts in one step; auto: the stage’s default, at most all rows'),
  compute_multiplier: auto(positive.max(128)).describe('of the stage’s rollouts for each prompt; auto: 1'),
  eval_interval: auto(count).describe('steps between evaluations of the validation file'),
  eval_samples: auto(z.number().int().min(1).max(1024)).describe('answers to each of its prompts; auto: 1'),
  reasoning_effort: only('reasoning_effort', 'default'),
  max_response: count
    .nullish()
    .describe('not OpenAI’s: tokens of an answer; default: the stage’s, at most half of the model’s context'),
});

const supervised = z.strictObject({
  type: z.literal('supervised'),
  supervised: z.strictObject({ hyperparameters: supervisedHyperparameters.nullish() }).nullish(),
  reinforcement: unsupported('reinforcement', 'the method is supervised'),
  dpo: unsupported('dpo'),
});

const reinforcement = z.strictObject({
  type: z.literal('reinforcement'),
  reinforcement: z.strictObject({
    grader: fineTuningGrader,
    hyperparameters: reinforcementHyperparameters.nullish(),
    response_format: unsupported('response_format'),
  }),
  supervised: unsupported('supervised', 'the method is reinforcement'),
  dpo: unsupported('dpo'),
});

export const fineTuningMethod = z.discriminatedUnion('type', [supervised, reinforcement], {
  error: ({ code }) =>
    code === 'invalid_union'
      ? 'methods are supervised and reinforcement; of preference pairs, which dpo takes, a job of type reward_model (POST /v1/jobs) makes a reward model'
      : undefined,
});
export type FineTuningMethod = z.infer<typeof fineTuningMethod>;
export type Supervised = z.infer<typeof supervised>;
export type Reinforcement = z.infer<typeof reinforcement>;

export const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((map) => Object.keys(map).length <= 16, 'at most 16 entries');

export const fineTuningRequest = z
  .strictObject({
    model: z
      .string()
      .min(1)
      .max(2_000)
      .describe('a checkpoint, a name that the service knows, or the URI or path of a model directory'),
    training_file: z.string().min(1).max(100),
    validation_file: z.string().min(1).max(100).nullish(),
    method: fineTuningMethod.nullish().describe('default: supervised'),
    hyperparameters: supervisedHyperparameters
      .nullish()
      .describe('of a supervised method that gives none itself (the older form)'),
    seed: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullish().describe('default: 0'),
    suffix: name.nullish().describe('the job’s name'),
    metadata: metadata.nullish(),
    integrations: z
      .array(z.record(z.string(), z.unknown()))
      .max(0, 'integrations are not supported: leave them out')
      .nullish(),
  })
  .refine(
    ({ method, hyperparameters }) =>
      (hyperparameters ?? null) === null ||
      (method ?? null) === null ||
      (method?.type === 'supervised' && (method.supervised?.hyperparameters ?? null) === null),
    { path: ['hyperparameters'], error: 'stands in the method already: send it there alone' },
  )
  .meta({ id: 'FineTuningRequest' });
export type FineTuningRequest = z.infer<typeof fineTuningRequest>;

const fineTuningStatus = z.enum([
  'validating_files',
  'queued',
  'running',
  'paused',
  'succeeded',
  'failed',
  'cancelled',
]);
export type FineTuningStatus = z.infer<typeof fineTuningStatus>;

export const fineTuningJob = z
  .object({
    id: jobId,
    object: z.literal('fine_tuning.job'),
    created_at: seconds,
    finished_at: seconds.nullable(),
    model: z.string(),
    fine_tuned_model: checkpointId
      .nullable()
      .describe('once it has succeeded: for POST /v1/chat/completions'),
    organization_id: z.string().describe('the project'),
    status: fineTuningStatus,
    hyperparameters: z.object({
      n_epochs: z.number().optional(),
      batch_size: z.number().optional(),
      learning_rate_multiplier: z.number().optional(),
    }),
    method: fineTuningMethod,
    training_file: fileId,
    validation_file: fileId.nullable(),
    result_files: z
      .array(fileId)
      .describe('of a job that has succeeded: one CSV with the metrics of every step'),
    trained_tokens: z.number().int().nullable().describe('once it has succeeded'),
    error: z
      .object({ code: z.string(), message: z.string(), param: z.string().nullable() })
      .nullable()
      .describe('of a job that has failed'),
    estimated_finish: seconds.nullable(),
    seed: z.number().int(),
    metadata: metadata.nullable(),
    integrations: z.array(z.record(z.string(), z.unknown())).max(0),
    user_provided_suffix: z.string().nullable(),
  })
  .meta({ id: 'FineTuningJob' });
export type FineTuningJob = z.infer<typeof fineTuningJob>;

export const fineTuningListQuery = z
  .looseObject({
    limit: wholeNumber(1, 200).default(20),
    after: jobId.optional().describe('the last id of the page before'),
    metadata: z
      .literal('null')
      .optional()
      .describe('jobs without metadata; metadata[KEY]=VALUE: those that have it'),
  })
  .describe('metadata[KEY]=VALUE: jobs whose metadata has that entry');

export const fineTuningEvent = z
  .object({
    id: z.string(),
    object: z.literal('fine_tuning.job.event'),
    created_at: seconds,
    level: z.enum(['info', 'warn', 'error']),
    message: z.string(),
    type: z.enum(['message', 'metrics']),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'FineTuningEvent' });
export type FineTuningEvent = z.infer<typeof fineTuningEvent>;

export const fineTuningEventsQuery = z.strictObject({
  limit: wholeNumber(1, 1_000).default(20),
  after: z
    .string()
    .regex(/^ftevent-[0-9a-z]{20,40}-\d{1,15}$/, 'the last id of a page')
    .optional()
    .describe('the last id of the page before'),
});

export const fineTuningCheckpoint = z
  .object({
    id: checkpointId,
    object: z.literal('fine_tuning.job.checkpoint'),
    created_at: seconds,
    fine_tuned_model_checkpoint: checkpointId,
    fine_tuning_job_id: jobId,
    step_number: z.number().int(),
    metrics: z
      .record(z.string(), z.number())
      .describe('train_loss, train_reward and others of its step; full_valid_loss'),
  })
  .meta({ id: 'FineTuningCheckpoint' });
export type FineTuningCheckpoint = z.infer<typeof fineTuningCheckpoint>;

export const fineTuningCheckpointsQuery = z.strictObject({
  limit: wholeNumber(1, 200).default(10),
  after: checkpointId.optional().describe('the last id of the page before'),
});

export const fineTuningJobs = openAiPage(fineTuningJob);
export const fineTuningEvents = openAiPage(fineTuningEvent);
export const fineTuningCheckpoints = openAiPage(fineTuningCheckpoint);

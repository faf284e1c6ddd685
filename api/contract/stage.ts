// Stages of a cascade: one strict schema a kind. Defaults follow the appendix tables of Nemotron-Cascade
// (arXiv 2512.13607): SFT Table 14, math RL Tables 17-18; what the paper leaves open says "our choice".
import { z } from 'zod';
import { grader } from './grader.ts';
import { name } from './names.ts';
import { truncation } from './truncation.ts';

const positive = z.number().positive();
/** What a step numbers has 32 bits wherever it is written down. */
const count = z.number().int().min(1).max(2_147_483_647);
const epochs = positive.max(1e6);
/** A batch lies in memory whole. */
const batch = count.max(1_000_000);
/** Below it the quotient of a logit leaves the range of float32. */
export const lowestTemperature = 1e-3;

/** AdamW with decoupled weight decay. Clipping at 1.0 and weight decay 0 in RL are our choice: the papers do not say. */
const optimizer = (weightDecay: number) =>
  z
    .strictObject({
      beta1: z.number().min(0).lt(1).default(0.9),
      beta2: z.number().min(0).lt(1).default(0.95),
      eps: positive.default(1e-8),
      weight_decay: z.number().min(0).default(weightDecay),
      clip_norm: positive.default(1),
    })
    .prefault({});

export const promptFormat = z
  .enum(['auto', 'chat', 'raw'])
  .default('auto')
  .describe('auto: chat where the model has a template and the prompt is a string');
export type PromptFormat = z.infer<typeof promptFormat>;

export const thinkingMode = z
  .enum(['thinking', 'non_thinking'])
  .optional()
  .describe(
    'what every prompt asks for, by model.thinking_control; default: what the chat template does by itself',
  );

const common = {
  name: name.optional().describe('unique within the job; default: the kind'),
  domain: name.optional().describe('what its evaluations count for; default: the kind'),
  data: z.string().min(1).describe('a dataset id or a dataset’s name'),
  lr_schedule: z.enum(['constant', 'cosine']),
  warmup_steps: z.number().int().min(0).default(0),
  prompt_format: promptFormat,
  mode: thinkingMode,
};

export const sftStage = z
  .strictObject({
    kind: z.literal('sft'),
    ...common,
    lr_schedule: common.lr_schedule.default('cosine'),
    lr: positive.default(5e-5),
    batch: batch.default(256).describe('rows in one step'),
    epochs: epochs
      .optional()
      .describe('passes over the data; default 1 where neither epochs nor steps is given'),
    steps: count.optional(),
    max_length: count.default(16_384).describe('tokens; a longer row is refused, never cut'),
    optimizer: optimizer(1e-4),
  })
  .refine((stage) => stage.epochs === undefined || stage.steps === undefined, {
    error: 'give epochs or steps, not both',
    path: ['steps'],
  });

/** What becomes of rollouts that ran into max_response; runner/cascade/overlong.ts says what each does. */
export const overlong = z.enum(['keep', 'zero', 'filter', 'penalty']);
export type Overlong = z.infer<typeof overlong>;

/** What a rollout counts that mixes languages; runner/cascade/penalties.ts says what each is, and from which paper. */
export const languageMixing = z.enum(['off', 'zero', 'minus_one', 'batch_minimum']);
export type LanguageMixing = z.infer<typeof languageMixing>;

export const mathStage = z.strictObject({
  kind: z.literal('math'),
  ...common,
  lr_schedule: common.lr_schedule.default('constant'),
  lr: positive.default(2e-6),
  grader: grader.prefault({ type: 'math' }),
  steps: count,
  prompts_per_step: batch.default(128),
  rollouts: z
    .number()
    .int()
    .min(2, 'a group of fewer than two rollouts has no variance to normalise by')
    .max(1024)
    .default(8),
  temperature: z.number().min(lowestTemperature).max(10).default(1),
  ...truncation,
  max_response: count.default(24_576).describe('tokens'),
  overlong: overlong.default('zero'),
  language_mixing: languageMixing
    .optional()
    .describe(
      'the reward of a response, thinking included, that mixes in a language its prompt does not use; default by the grader: ' +
        'math minus_one, code zero, preference batch_minimum, else off',
    ),
  length_control: z
    .enum(['off', 'group_relative'])
    .default('off')
    .describe('group_relative: within a group shorter thinking and shorter answers gain, longer ones lose'),
  optimizer: optimizer(0),
});

export const stage = z.discriminatedUnion('kind', [sftStage, mathStage]);

// Stages of a cascade: one strict schema a kind. Defaults follow the appendix tables of Nemotron-Cascade
// (arXiv 2512.13607): SFT Table 14, math RL Tables 17-18; what the paper leaves open says "our choice".
import { z } from 'zod';
import { grader } from './grader.ts';
import { name } from './names.ts';
import { truncation } from './truncation.ts';

const positive = z.number().positive();
const count = z.number().int().min(1);

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

const common = {
  name: name.optional().describe('unique within the job; default: the kind'),
  domain: name.optional().describe('what its evaluations count for; default: the kind'),
  data: z.string().min(1).describe('a dataset id or a dataset’s name'),
  lr_schedule: z.enum(['constant', 'cosine']),
  warmup_steps: z.number().int().min(0).default(0),
  prompt_format: z
    .enum(['auto', 'chat', 'raw'])
    .default('auto')
    .describe('auto: chat where the model has a template and the prompt is a string'),
};

export const sftStage = z
  .strictObject({
    kind: z.literal('sft'),
    ...common,
    lr_schedule: common.lr_schedule.default('cosine'),
    lr: positive.default(5e-5),
    batch: count.default(256).describe('rows in one step'),
    epochs: positive
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
export type SftStage = z.infer<typeof sftStage>;

/** What becomes of rollouts that ran into max_response: engine.md section 4 of the design, DAPO for `penalty`. */
export const overlong = z.enum(['keep', 'zero', 'filter', 'penalty']);
export type Overlong = z.infer<typeof overlong>;

export const mathStage = z.strictObject({
  kind: z.literal('math'),
  ...common,
  lr_schedule: common.lr_schedule.default('constant'),
  lr: positive.default(2e-6),
  grader: grader.prefault({ type: 'math' }),
  steps: count,
  prompts_per_step: count.default(128),
  rollouts: z
    .number()
    .int()
    .min(2, 'a group of fewer than two rollouts has no variance to normalise by')
    .default(8),
  temperature: positive.max(10).default(1),
  ...truncation,
  max_response: count.default(24_576).describe('tokens'),
  overlong: overlong.default('zero'),
  optimizer: optimizer(0),
});
export type MathStage = z.infer<typeof mathStage>;

export const stage = z.discriminatedUnion('kind', [sftStage, mathStage]);
export type Stage = z.infer<typeof stage>;
export type StageInput = z.input<typeof stage>;

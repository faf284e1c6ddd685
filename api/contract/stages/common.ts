// What stages of several kinds have in common. Defaults follow the appendix tables of Nemotron-Cascade (arXiv 2512.13607); what
// the paper leaves open says "our choice".
import { z } from 'zod';
import { name } from '../names.ts';

export const positive = z.number().positive();
/** What a step numbers has 32 bits wherever it is written down. */
export const MOST_STEPS = 2_147_483_647;
export const count = z.number().int().min(1).max(MOST_STEPS);
export const epochs = positive.max(1e6);
/** A batch lies in memory whole. */
export const batch = count.max(1_000_000);
/** Below it the quotient of a logit leaves the range of float32. */
export const lowestTemperature = 1e-3;

/** AdamW with decoupled weight decay. Clipping at 1.0 and weight decay 0 in RL are our choice: the papers do not say. */
export const optimizer = (weightDecay: number) =>
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

export const thinkingMode = z.enum(['thinking', 'non_thinking']);
export type ThinkingMode = z.infer<typeof thinkingMode>;

/** `half_half`: exactly half of the prompts of every batch in each mode (Nemotron-Cascade, section 4.3). */
export const stageMode = z.enum(['thinking', 'non_thinking', 'half_half']);
export type StageMode = z.infer<typeof stageMode>;

const asked =
  'what every prompt asks for, by model.thinking_control; default: what the chat template does by itself';

export const askedOfPrompts = thinkingMode.optional().describe(asked);
export const askedOfBatches = stageMode
  .optional()
  .describe(`${asked}. half_half: exactly half of every batch in each mode`);

/** What `refine` takes: a check, and what is wrong where it fails. */
export type Rule<Value> = [(value: Value) => boolean, { error: string; path: (string | number)[] }];

/** Evaluations before the first stage are filed under `initial`, as those after a stage under its name. */
const stageName = name.refine(
  (given) => given !== 'initial',
  '"initial" is the model before the first stage: give the stage another name',
);

/** Of every stage. */
export const common = {
  name: stageName.optional().describe('unique within the job; default: the kind'),
  domain: name.optional().describe('what its evaluations count for; default: the kind, chat for rlhf'),
  lr_schedule: z.enum(['constant', 'cosine']),
  warmup_steps: z.number().int().min(0).default(0),
  prompt_format: promptFormat,
};

export const data = z.string().min(1).describe('a dataset id or a dataset’s name');

/** Passes over the rows, or a number of steps. */
export const duration = {
  epochs: epochs
    .optional()
    .describe('passes over the data; default 1 where neither epochs nor steps is given'),
  steps: count.optional(),
};

export const oneDuration: Rule<{ epochs?: number | undefined; steps?: number | undefined }> = [
  ({ epochs, steps }) => epochs === undefined || steps === undefined,
  { error: 'give epochs or steps, not both', path: ['steps'] },
];

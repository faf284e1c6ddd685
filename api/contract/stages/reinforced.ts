// What every RL stage has. The kinds differ in their defaults, in what grades them, and in where their tasks come from.
import { z } from 'zod';
import { truncation } from '../truncation.ts';
import { batch, common, count, MOST_STEPS, optimizer, positive } from './common.ts';
import type { Rule } from './common.ts';
import { dynamicFilter } from './filter.ts';
import type { DynamicFilter } from './filter.ts';
import { overlong, phaseChange, temperature } from './phase.ts';
import type { Overlong } from './phase.ts';

/** What a rollout counts that mixes languages; runner/cascade/rl/penalties.ts says what each is, and from which paper. */
export const languageMixing = z.enum(['off', 'zero', 'minus_one', 'batch_minimum']);
export type LanguageMixing = z.infer<typeof languageMixing>;

export const languageMixingOption = languageMixing
  .optional()
  .describe(
    'the reward of a response, thinking included, that mixes in a language its prompt does not use; default by the grader: ' +
      'math minus_one, code zero, preference batch_minimum, else off',
  );

/** Of a kind, from the table of the paper that it cites. */
export interface ReinforcedDefaults {
  readonly lr: number;
  readonly prompts: number;
  readonly rollouts: number;
  readonly temperature: number;
  readonly topP: number;
  readonly topK?: number;
  readonly maxResponse: number;
  readonly overlong: Overlong;
  readonly filter: DynamicFilter;
}

export const reinforced = (given: ReinforcedDefaults) => ({
  ...common,
  lr_schedule: common.lr_schedule.default('constant'),
  lr: positive.default(given.lr),
  steps: count.optional(),
  phases: z
    .array(phaseChange)
    .min(1)
    .max(100)
    .optional()
    .describe('a curriculum, in place of steps: what a phase leaves out is the stage’s'),
  prompts_per_step: batch.default(given.prompts),
  rollouts: z
    .number()
    .int()
    .min(2, 'a group of fewer than two rollouts has no variance to normalise by')
    .max(1024)
    .default(given.rollouts),
  temperature: temperature.default(given.temperature),
  top_k: truncation.top_k.unwrap().default(given.topK ?? 0),
  top_p: truncation.top_p.unwrap().default(given.topP),
  min_p: truncation.min_p,
  max_response: count.default(given.maxResponse).describe('tokens'),
  overlong: overlong.default(given.overlong),
  filter: dynamicFilter.prefault(given.filter),
  length_control: z
    .enum(['off', 'group_relative'])
    .default('off')
    .describe('group_relative: within a group shorter thinking and shorter answers gain, longer ones lose'),
  shaping: z
    .enum(['off', 'tanh'])
    .default('off')
    .describe('tanh: the reward becomes tanh((r - mean) / std) of its group, for weak reward models'),
  loss: z
    .enum(['token_mean', 'sequence_mean'])
    .default('token_mean')
    .describe('sequence_mean: every response weighs alike, whatever its length'),
  kl: z
    .number()
    .min(0)
    .default(0)
    .describe('coefficient of the k3 penalty that holds the policy to where the stage began'),
  optimizer: optimizer(0),
});

export const timed: Rule<{ steps?: number | undefined; phases?: readonly unknown[] | undefined }> = [
  ({ steps, phases }) => (steps === undefined) !== (phases === undefined),
  { error: 'give steps or phases: one of them, and not both', path: ['steps'] },
];

/** As `count`: what a step numbers has 32 bits, whatever phase it is in. */
export const numbered: Rule<{ phases?: readonly { steps: number }[] | undefined }> = [
  ({ phases = [] }) => phases.reduce((total, { steps }) => total + steps, 0) <= MOST_STEPS,
  { error: `must have ${MOST_STEPS} steps together, at most`, path: ['phases'] },
];

export const halved: Rule<{ mode?: string | undefined; prompts_per_step: number }> = [
  ({ mode, prompts_per_step }) => mode !== 'half_half' || prompts_per_step % 2 === 0,
  {
    error: 'must be even with mode "half_half": exactly half of every batch is in each mode',
    path: ['prompts_per_step'],
  },
];

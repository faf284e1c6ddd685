// A Bradley-Terry reward model on preference pairs (Nemotron-Cascade, section 4.2): the last layer's state at the last token goes
// into a scalar head. A job of its own: what it ends with is no language model.
import { z } from 'zod';
import { batch, common, count, data, duration, oneDuration, optimizer, positive } from './common.ts';

/** Pairs are put in the model's own template, as its scores will be asked for: there is no format and no mode to choose. */
const { prompt_format: _, ...shared } = common;

export const rewardModelStage = z
  .strictObject({
    kind: z.literal('reward_model'),
    ...shared,
    data,
    lr_schedule: common.lr_schedule.default('constant'),
    lr: positive.default(2e-6),
    batch: batch.default(256).describe('pairs in one step'),
    ...duration,
    max_length: count
      .default(16_384)
      .describe('tokens of prompt and answer; a longer pair is refused, never cut'),
    held_out: z
      .number()
      .min(0)
      .lt(1)
      .default(0.05)
      .describe('share of the pairs that is never trained on, and on which the model is measured'),
    optimizer: optimizer(0),
  })
  .refine(...oneDuration);
export type RewardModelStage = z.infer<typeof rewardModelStage>;

// Instruction-following RL on verifiable constraints (Nemotron-Cascade, section 4.4 and Table 16), alone or, for thinking models,
// with what a reward model says of the answers that follow them.
import { z } from 'zod';
import { grader } from '../grader.ts';
import { checkpointId } from '../names.ts';
import { askedOfBatches, data } from './common.ts';
import { halved, languageMixingOption, numbered, reinforced, timed } from './reinforced.ts';

export const instructionStage = z
  .strictObject({
    kind: z.literal('instruction'),
    ...reinforced({
      lr: 2e-6,
      prompts: 256,
      rollouts: 8,
      temperature: 0.6,
      topP: 0.95,
      topK: 20,
      maxResponse: 8192,
      overlong: 'zero',
      filter: { type: 'batch', most_rounds: 10 },
    }),
    data,
    mode: askedOfBatches,
    grader: grader.prefault({ type: 'instructions' }),
    reward_model: checkpointId
      .optional()
      .describe(
        'a checkpoint with a scalar head: an answer that follows all its instructions gains the sigmoid of its normalised score',
      ),
    language_mixing: languageMixingOption,
  })
  .refine(...timed)
  .refine(...numbered)
  .refine(...halved);

// RLHF with a reward model or a judge (Nemotron-Cascade, section 4.3 and Table 15; batch as in the table, the text says 128).
// It must name its grader. Over-long answers are scored as they are.
import { z } from 'zod';
import { grader } from '../grader.ts';
import { askedOfBatches, data } from './common.ts';
import { halved, languageMixingOption, numbered, reinforced, timed } from './reinforced.ts';

export const rlhfStage = z
  .strictObject({
    kind: z.literal('rlhf'),
    ...reinforced({
      lr: 2e-6,
      prompts: 256,
      rollouts: 8,
      temperature: 0.6,
      topP: 0.95,
      maxResponse: 12_288,
      overlong: 'keep',
      filter: { type: 'off' },
    }),
    data,
    mode: askedOfBatches,
    grader,
    language_mixing: languageMixingOption,
  })
  .refine(...timed)
  .refine(...numbered)
  .refine(...halved);

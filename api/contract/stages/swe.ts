// Software-engineering RL without execution: how near a patch comes to the gold one (Nemotron-Cascade, section 4.7 and Table 20).
import { z } from 'zod';
import { grader } from '../grader.ts';
import { askedOfBatches, data } from './common.ts';
import { halved, languageMixingOption, numbered, reinforced, timed } from './reinforced.ts';

export const sweStage = z
  .strictObject({
    kind: z.literal('swe'),
    ...reinforced({
      lr: 2.5e-6,
      prompts: 128,
      rollouts: 16,
      temperature: 1,
      topP: 0.95,
      maxResponse: 16_384,
      overlong: 'zero',
      filter: { type: 'off' },
    }),
    data,
    mode: askedOfBatches,
    grader: grader.prefault({ type: 'swe' }),
    language_mixing: languageMixingOption,
  })
  .refine(...timed)
  .refine(...numbered)
  .refine(...halved);

// Math RL by rule-based verification of the last stated answer (Nemotron-Cascade, section 4.5 and Tables 17-18).
import { z } from 'zod';
import { grader } from '../grader.ts';
import { askedOfBatches, data } from './common.ts';
import { halved, languageMixingOption, numbered, reinforced, timed } from './reinforced.ts';

export const mathStage = z
  .strictObject({
    kind: z.literal('math'),
    ...reinforced({
      lr: 2e-6,
      prompts: 128,
      rollouts: 8,
      temperature: 1,
      topP: 0.95,
      maxResponse: 24_576,
      overlong: 'zero',
      filter: { type: 'epoch', readmit_hard: 0.1, readmit_easy: 0.01 },
    }),
    data,
    mode: askedOfBatches,
    grader: grader.prefault({ type: 'math' }),
    language_mixing: languageMixingOption,
  })
  .refine(...timed)
  .refine(...numbered)
  .refine(...halved);

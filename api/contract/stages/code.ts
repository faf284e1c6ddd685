// Code RL: every test of the row must pass (Nemotron-Cascade, section 4.6 and Table 19, the unified 8B model).
import { z } from 'zod';
import { grader } from '../grader.ts';
import { askedOfBatches, data } from './common.ts';
import { halved, languageMixingOption, numbered, reinforced, timed } from './reinforced.ts';

export const codeStage = z
  .strictObject({
    kind: z.literal('code'),
    ...reinforced({
      lr: 4e-6,
      prompts: 128,
      rollouts: 8,
      temperature: 1,
      topP: 0.95,
      maxResponse: 45_056,
      overlong: 'zero',
      filter: { type: 'off' },
    }),
    data,
    mode: askedOfBatches,
    grader: grader.prefault({ type: 'code', language: 'python' }),
    language_mixing: languageMixingOption,
  })
  .refine(...timed)
  .refine(...numbered)
  .refine(...halved);

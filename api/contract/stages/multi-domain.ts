// Several domains in every batch (Nemotron-Cascade 2, section 4.3), each with data and a grader of its own. `mixed` is the same over
// every domain of the job: the baseline that a cascade is compared with.
import { z } from 'zod';
import { grader } from '../grader.ts';
import { name } from '../names.ts';
import { askedOfBatches, data, positive } from './common.ts';
import type { Rule } from './common.ts';
import { languageMixingOption, numbered, reinforced, timed } from './reinforced.ts';

/** Where tasks come from, and what grades them. */
export const domainSource = z.strictObject({
  domain: name,
  data,
  grader,
  weight: positive.default(1).describe('share of every batch, relative to the other domains'),
  mode: askedOfBatches,
  language_mixing: languageMixingOption,
});

const fields = {
  ...reinforced({
    lr: 3e-6,
    prompts: 128,
    rollouts: 16,
    temperature: 1,
    topP: 1,
    maxResponse: 49_152,
    overlong: 'filter',
    filter: { type: 'off' },
  }),
  domains: z
    .array(domainSource)
    .min(2)
    .max(100)
    .refine(
      (domains) => new Set(domains.map(({ domain }) => domain)).size === domains.length,
      'a domain stands twice: give each once',
    ),
};

/** Halves are exact within every domain. */
const halved: Rule<{ domains: z.infer<typeof domainSource>[]; prompts_per_step: number }> = [
  ({ domains, prompts_per_step }) =>
    prompts_per_step % 2 === 0 || domains.every(({ mode }) => mode !== 'half_half'),
  { error: 'must be even where a domain has mode "half_half"', path: ['prompts_per_step'] },
];

export const multiDomainStage = z
  .strictObject({ kind: z.literal('multi_domain'), ...fields })
  .refine(...timed)
  .refine(...numbered)
  .refine(...halved);
export const mixedStage = z
  .strictObject({ kind: z.literal('mixed'), ...fields })
  .refine(...timed)
  .refine(...numbered)
  .refine(...halved);

// What is evaluated: a suite of tasks and how they are measured, each in every mode that it lists.
import { z } from 'zod';
import { grader } from './grader.ts';
import type { Grader } from './grader.ts';
import { name } from './names.ts';
import { count, lowestTemperature, promptFormat, thinkingMode } from './stages/common.ts';
import { truncation } from './truncation.ts';

export const sampling = z
  .strictObject({
    temperature: z
      .number()
      .min(0)
      .max(10)
      .refine(
        (value) => value === 0 || value >= lowestTemperature,
        `0 (greedy), or at least ${lowestTemperature}`,
      )
      .default(1)
      .describe('0 is greedy'),
    ...truncation,
    max_response: count.default(1024).describe('tokens'),
  })
  .prefault({});

const fields = {
  name,
  domain: name.optional().describe('default: the name'),
  data: z.string().min(1),
  prompt_format: promptFormat,
  modes: z
    .array(thinkingMode)
    .min(1)
    .max(2)
    .refine((modes) => new Set(modes).size === modes.length, 'a mode stands twice: give each once')
    .optional()
    .describe(
      'evaluated one after the other; default: what the chat template does by itself, filed as non_thinking',
    ),
};

const answered = {
  ...fields,
  grader,
  k: z.number().int().min(1).max(1024).default(1).describe('samples for each task'),
  sampling,
};

const averages = z
  .strictObject({
    measure: z.literal('average').default('average').describe('avg@k, and pass@j of k samples'),
    ...answered,
    pass_at: z
      .array(z.number().int().min(1).max(1024))
      .max(10)
      .refine((all) => new Set(all).size === all.length, 'a j stands twice: give each once')
      .default([])
      .describe('the j of pass@j, each at most k: the chance that one of j samples reaches the maximum'),
  })
  .refine(({ k, pass_at }) => pass_at.every((j) => j <= k), {
    error: 'each j must be at most k: there are no more samples of a task than that',
    path: ['pass_at'],
  })
  .refine(({ grader: given, pass_at }) => pass_at.length === 0 || hasMaximum(given), {
    error: 'a sample passes when it reaches the grader’s maximum, and this grader has none',
    path: ['pass_at'],
  });

const winRates = z
  .strictObject({
    measure: z
      .literal('win_rate')
      .describe(
        'how often an answer beats the row’s reference by a reward model or a judge; a tie counts a half',
      ),
    ...answered,
  })
  .refine(({ grader: given }) => compares(given), {
    error: 'is measured by a preference grader, or by a judge with prompt "pairwise"',
    path: ['grader'],
  });

const points = z
  .strictObject({
    measure: z
      .literal('points')
      .describe(
        'points of the subtasks that any of k samples solves, as in the IOI; rows with subtasks only',
      ),
    ...answered,
  })
  .refine(({ grader: given }) => given.type === 'code', {
    error: 'only the code grader judges subtasks',
    path: ['grader'],
  });

const hasMaximum = (given: Grader): boolean =>
  given.type !== 'preference' && !(given.type === 'remote' && given.max_score === null);

const compares = (given: Grader): boolean =>
  given.type === 'preference' || (given.type === 'judge' && given.prompt === 'pairwise');

const losses = z.strictObject({
  measure: z.literal('loss').describe('negative log-probability of a token of the answers in sft rows'),
  ...fields,
  max_length: count.default(16_384).describe('tokens; a longer row is refused, never cut'),
});

export const suite = z.discriminatedUnion('measure', [averages, winRates, points, losses]);
export type Suite = z.infer<typeof suite>;
/** Those that answer and grade. */
export type AnsweredSuite = Exclude<Suite, { measure: 'loss' }>;

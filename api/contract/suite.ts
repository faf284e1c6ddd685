// What is evaluated: a suite of tasks and how they are measured, each in every mode that it lists.
import { z } from 'zod';
import { grader } from './grader.ts';
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
  grader: grader.refine((given) => given.type !== 'judge' || given.prompt !== 'group', {
    error:
      'a judge with prompt "group" says what answers are worth beside each other: evaluations need one that judges an answer by itself',
    path: ['prompt'],
  }),
  k: z.number().int().min(1).max(1024).default(1).describe('samples for each task'),
  sampling,
};

const averages = z.strictObject({
  measure: z.literal('average').default('average').describe('avg@k, and pass@j of k samples'),
  ...answered,
  pass_at: z
    .array(z.number().int().min(1).max(1024))
    .max(10)
    .refine((values) => new Set(values).size === values.length, 'a number stands twice: give each once')
    .default([])
    .describe('the j of pass@j, each at most k: the chance that one of j samples reaches the maximum'),
});

const winRates = z.strictObject({
  measure: z
    .literal('win_rate')
    .describe(
      'how often an answer beats the row’s reference by a reward model or a judge; a tie counts a half',
    ),
  ...answered,
});

const points = z.strictObject({
  measure: z
    .literal('points')
    .describe('points of the subtasks that any of k samples solves, as in the IOI; rows with subtasks only'),
  ...answered,
});

const losses = z.strictObject({
  measure: z.literal('loss').describe('negative log-probability of a token of the answers in sft rows'),
  ...fields,
  max_length: count.default(16_384).describe('tokens; a longer row is refused, never cut'),
});

export const suite = z.discriminatedUnion('measure', [averages, winRates, points, losses]);
export type Suite = z.infer<typeof suite>;

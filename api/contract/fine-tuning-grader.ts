// Graders of a reinforcement job in OpenAI's form. Of theirs, string_check maps to ours; ours are taken as they are.
import { z } from 'zod';
import { grader } from './grader.ts';

/** What stands in for the model's answer in their templates. */
const answerTemplate = /^\s*\{\{\s*sample\.output_text\s*\}\}\s*$/;

export const stringCheck = z.strictObject({
  type: z.literal('string_check'),
  name: z.string().max(256).optional(),
  operation: z.literal('eq', {
    error:
      'only the operation "eq" is supported: ne, like and ilike have no counterpart; a grader of your own behind HTTP is {"type":"remote","url":…}',
  }),
  input: z
    .string()
    .max(1_000)
    .regex(answerTemplate, 'must be "{{sample.output_text}}": it is the answer that is graded'),
  reference: z
    .string()
    .min(1)
    .max(10_000)
    .refine(
      (text) => !/\{\{\s*sample\b/.test(text),
      'must not name the sample: it is what the answer is compared with',
    )
    .describe('{{item.COLUMN}} stands for a column of the row'),
});
export type StringCheck = z.infer<typeof stringCheck>;

const theirs: Readonly<Record<string, string>> = {
  text_similarity: 'for exact answers take string_check or {"type":"exact"}',
  score_model: 'for a model that judges take {"type":"judge","url":…,"model":…,"prompt":"yes_no"}',
  label_model: 'for a model that judges take {"type":"judge","url":…,"model":…,"prompt":"yes_no"}',
  python:
    'for a grader of your own take {"type":"remote","url":…}; for answers that are programs {"type":"code","language":…}',
  multi: 'for a grader of your own, which may combine others, take {"type":"remote","url":…}',
  endpoint: 'the same is here {"type":"remote","url":…}',
};

const supported = ['string_check', ...grader.options.map(({ shape }) => shape.type.value)];

/** Says of theirs that are not here what is, and lists what is. */
function unknownGrader(input: unknown): string | undefined {
  const type = typeof input === 'object' && input !== null ? (input as { type?: unknown }).type : undefined;
  if (typeof type !== 'string' || supported.includes(type)) return undefined;
  const hint = Object.hasOwn(theirs, type) ? `; ${theirs[type]}` : '';
  return `graders of type ${JSON.stringify(type.slice(0, 50))} are not supported: there are ${supported.join(', ')}${hint}`;
}

export const fineTuningGrader = z.discriminatedUnion('type', [stringCheck, ...grader.options], {
  error: ({ code, input }) => (code === 'invalid_union' ? unknownGrader(input) : undefined),
});
export type FineTuningGrader = z.infer<typeof fineTuningGrader>;

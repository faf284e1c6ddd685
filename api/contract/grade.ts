// Grading a handful of answers over HTTP: tasks and responses in, one result for each, in their order. What a reward is
// stands in runner/rewards/reward.ts; here is its form on the wire.
import { z } from 'zod';
import type { Grader } from './grader.ts';
import { grader, kindsGradedBy } from './grader.ts';
import type { Task } from './task.ts';
import { rowSchemas } from './task.ts';

export const mostItems = 1_000;
/** A request with a thousand broken tasks need not name a thousand faults. */
const mostIssues = 100;

export const gradeItem = z.strictObject({
  task: z
    .record(z.string(), z.unknown())
    .describe('a row of a kind that the grader understands, as in a dataset'),
  response: z.string().describe('what a model wrote, the thinking block, if any, still in it'),
});
export type GradeItem = z.infer<typeof gradeItem>;

/** What a task must look like for this grader. */
export function taskSchema(given: Grader): z.ZodType<Task> {
  const [first, ...others] = kindsGradedBy(given).map((kind) => rowSchemas[kind] as z.ZodType<Task>);
  return others.length === 0 ? first! : z.union([first!, ...others]);
}

export const gradeRequest = z
  .strictObject({ grader, items: z.array(gradeItem).min(1).max(mostItems) })
  .superRefine((request, context) => {
    const schema = taskSchema(request.grader);
    let named = 0;
    for (const [index, { task }] of request.items.entries()) {
      for (const issue of schema.safeParse(task).error?.issues ?? []) {
        if (named++ >= mostIssues) return;
        const path = ['items', index, 'task', ...issue.path];
        context.addIssue({ ...issue, path } as Parameters<typeof context.addIssue>[0]);
      }
    }
  })
  .meta({
    id: 'GradeRequest',
    examples: [
      {
        grader: { type: 'math' },
        items: [{ task: { prompt: '1/3 + 1/6 = ?', answer: '1/2' }, response: 'It is \\boxed{0.5}' }],
      },
      {
        grader: { type: 'code', language: 'python' },
        items: [
          {
            task: { prompt: 'Write add(a, b).', tests: ['assert add(1, 2) == 3'] },
            response: '```python\ndef add(a, b):\n    return a + b\n```',
          },
        ],
      },
      {
        grader: { type: 'instructions' },
        items: [
          {
            task: {
              prompt: 'Say hello without a comma.',
              instruction_id_list: ['punctuation:no_comma'],
              kwargs: [{}],
            },
            response: 'Hello there',
          },
        ],
      },
    ],
  });
export type GradeRequest = z.infer<typeof gradeRequest>;

const common = {
  index: z.number().int().min(0).describe('of the item'),
  detail: z.string().max(1_000).optional().describe('for people: what was wrong, and where'),
};
const code = z.string().min(1).max(63);

export const gradeResult = z
  .discriminatedUnion('status', [
    z.object({
      ...common,
      status: z.literal('scored'),
      value: z.number(),
      parts: z.record(z.string(), z.number()),
    }),
    z.object({
      ...common,
      status: z.literal('invalid').describe('the answer’s own fault'),
      value: z.number().describe('what it counts unless a stage says otherwise'),
      code: code.describe('no_answer, unparsable, timeout'),
    }),
    z.object({
      ...common,
      status: z.literal('unscored').describe('our fault: counts nothing'),
      code: code.describe('sandbox_down, verifier_down, unreachable, no_backend, broken_row'),
    }),
  ])
  .meta({ id: 'GradeResult' });
export type GradeResult = z.infer<typeof gradeResult>;

export const gradeAnswer = z.object({
  results: z.array(gradeResult).describe('one for each item, in their order'),
});

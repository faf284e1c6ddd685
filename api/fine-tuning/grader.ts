// Which of our graders stands behind one of a reinforcement job in OpenAI's form, and the task that it grades in each row.
import type { FineTuningGrader } from '../contract/fine-tuning-grader.ts';
import type { Grader } from '../contract/grader.ts';
import { kindsGradedBy } from '../contract/grader.ts';
import type { Message, TaskKind } from '../contract/task.ts';
import type { reinforcementRow } from '../contract/training-row.ts';
import { promptOf } from '../contract/training-row.ts';
import type { z } from 'zod';
import { ProblemError } from '../problem.ts';

export const graderOf = (given: FineTuningGrader): Grader =>
  given.type === 'string_check' ? { type: 'exact' } : given;

/** Columns of which a row has one if it is of the kind. */
const columnsOf: Readonly<Record<TaskKind, readonly string[]>> = {
  instruction: ['instruction_id_list'],
  code: ['tests', 'subtasks'],
  swe: ['patch'],
  preference: ['chosen'],
  math: ['answer'],
};

/** Of the kinds that the grader takes the one whose columns the row has. */
export function kindOf(given: FineTuningGrader, row: unknown): TaskKind | { readonly message: string } {
  if (given.type === 'string_check') return 'math';
  const kinds = kindsGradedBy(given);
  const columns = typeof row === 'object' && row !== null ? row : {};
  const found = kinds.find((kind) => columnsOf[kind].some((column) => Object.hasOwn(columns, column)));
  if (found !== undefined) return found;
  const wanted = kinds.flatMap((kind) => columnsOf[kind]).join(', ');
  return { message: `row 1: the grader ${given.type} needs one of the columns ${wanted} beside messages` };
}

/** The row with `prompt` in place of `messages`, and its gold where a template says what it is. */
export function taskOf(
  given: FineTuningGrader,
  row: z.infer<typeof reinforcementRow>,
): Record<string, unknown> {
  const { messages, ...columns } = row;
  const prompt: Message[] = promptOf({ messages });
  if (given.type !== 'string_check') return { ...columns, prompt };
  return { prompt, answer: rendered(given.reference, columns) };
}

/** `{{item.COLUMN}}` and `{{item.COLUMN.KEY}}` replaced by what stands there. @throws ProblemError invalid_spec. */
function rendered(template: string, item: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(/\{\{\s*([^{}]*?)\s*\}\}/g, (_whole, path: string) => {
    const [root, ...keys] = path.split('.');
    const value = root === 'item' ? keys.reduce<unknown>(within, item) : undefined;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return String(value);
    const message = `{{${path}}} stands for no text or number of the row, whose columns are ${Object.keys(item).join(', ').slice(0, 200)}`;
    throw new ProblemError('invalid_spec', `method.reinforcement.grader.reference: ${message}`, {
      issues: [{ pointer: '/method/reinforcement/grader/reference', message }],
    });
  });
}

const within = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

// Rows of datasets: what one task of each kind looks like once foreign columns are mapped.
import { z } from 'zod';
import { instructionFaults } from './instructions/arguments.ts';

export const message = z.strictObject({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.string(),
});
export type Message = z.infer<typeof message>;

/** A string is one user message where the model has a chat template, else raw text. */
export const prompt = z.union([z.string().min(1), z.array(message).min(1)]);
export type Prompt = z.infer<typeof prompt>;

export const sftRow = z.strictObject({
  messages: z
    .array(message)
    .min(2)
    .refine(
      (messages) => messages.at(-1)?.role === 'assistant',
      'the last message must be the assistant’s: it is what is learnt',
    ),
});
export type SftRow = z.infer<typeof sftRow>;

/** `answer` is the gold; `prompt` what the model sees. An empty answer is a task whose right response is to end at once. */
export const mathRow = z.strictObject({
  prompt,
  answer: z.union([z.string(), z.number()]).transform(String),
});
export type MathRow = z.infer<typeof mathRow>;

/** IFEval's and IFBench's own format: the n-th record of `kwargs` belongs to the n-th id; a null in it is an absent argument. */
export const instructionRow = z
  .strictObject({
    prompt,
    instruction_id_list: z.array(z.string().min(1)).min(1),
    kwargs: z.array(z.record(z.string(), z.unknown())),
  })
  .superRefine((row, context) => {
    for (const { path, message } of instructionFaults(row))
      context.addIssue({ code: 'custom', path: [...path], message });
  });
export type InstructionRow = z.infer<typeof instructionRow>;

/**
 * A program reads `input` and must write `output`. In a row with `entry_point` a function is called instead: each line of `input` is
 * one argument and `output` the result, all JSON (LiveCodeBench's function tests).
 */
export const ioPair = z.strictObject({ input: z.string(), output: z.string() });
export type IoPair = z.infer<typeof ioPair>;

const tests = z.union([z.string().min(1), z.array(z.string().min(1)).min(1), z.array(ioPair).min(1)]);
export type CodeTests = z.infer<typeof tests>;

/** Solved where all of its tests pass; worth `points`, as in the IOI. */
export const subtask = z.strictObject({ points: z.number().positive().max(1_000_000), tests });
export type Subtask = z.infer<typeof subtask>;

/**
 * `tests`: a program that runs after the response (HumanEval's `check(candidate)`, HumanEval-JS), statements that must each hold
 * (MBPP), or pairs for a whole program (LiveCodeBench); `subtasks` in their place are judged each by itself. `setup` runs before
 * the tests; `entry_point` is the function under test, needed where the tests do not name it; `solution` the gold, whole or as
 * what follows the prompt.
 */
export const codeRow = z
  .strictObject({
    prompt,
    tests: tests.optional(),
    subtasks: z.array(subtask).min(1).max(100).optional(),
    entry_point: z.string().min(1).optional(),
    setup: z.string().optional(),
    solution: z.string().min(1).optional(),
  })
  .refine(({ tests, subtasks }) => (tests === undefined) !== (subtasks === undefined), {
    error: 'give tests or subtasks: one of them, and not both',
    path: ['tests'],
  });
export type CodeRow = z.infer<typeof codeRow>;
/** A row, or a subtask of one with what it shares with the others. */
export type TestedCode = Omit<CodeRow, 'tests' | 'subtasks'> & { readonly tests: CodeTests };

/**
 * `files`: path -> content before the change. Where it is absent the files are the pre-images of the patch's hunks, and the row
 * counts as `partial`. `patch`: the gold, a unified diff.
 */
export const sweRow = z.strictObject({
  prompt,
  files: z.record(z.string().min(1), z.string()).optional(),
  patch: z.string().min(1),
});
export type SweRow = z.infer<typeof sweRow>;

export const preferenceRow = z.strictObject({ prompt, chosen: z.string(), rejected: z.string() });
export type PreferenceRow = z.infer<typeof preferenceRow>;

export const rowSchemas = {
  sft: sftRow,
  math: mathRow,
  instruction: instructionRow,
  code: codeRow,
  swe: sweRow,
  preference: preferenceRow,
} as const;

export type DatasetKind = keyof typeof rowSchemas;
export const datasetKind = z.enum(Object.keys(rowSchemas) as [DatasetKind, ...DatasetKind[]]);

export type RowOf<Kind extends DatasetKind> = z.infer<(typeof rowSchemas)[Kind]>;
/** A row that answers can be graded against. */
export type TaskKind = Exclude<DatasetKind, 'sft'>;
export type Task = RowOf<TaskKind>;
export const taskKinds = datasetKind.options.filter((kind) => kind !== 'sft') as [TaskKind, ...TaskKind[]];

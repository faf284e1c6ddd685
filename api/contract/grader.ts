// What gives a rollout its reward. The objects below appear wherever a `grader` is named.
import { z } from 'zod';
import type { TaskKind } from './task.ts';

export const codeLanguage = z.enum(['python', 'javascript', 'typescript']);
export type CodeLanguage = z.infer<typeof codeLanguage>;

export const grader = z
  .discriminatedUnion('type', [
    /** 1 where the response equals the gold answer (surrounding white space aside), else 0. */
    z.strictObject({ type: z.literal('exact') }),
    /** Length of the common prefix of response and gold over (length of gold + 1). */
    z.strictObject({ type: z.literal('prefix') }),
    /** 1 where the last boxed (or stated) answer equals the gold answer as a mathematical value, else 0. */
    z.strictObject({ type: z.literal('math') }),
    /** 1 where the response follows every instruction of the row, else 0. `loose` forgives as IFEval does. */
    z.strictObject({ type: z.literal('instructions'), check: z.enum(['strict', 'loose']).default('strict') }),
    /** 1 where the program in the response passes every test of the row, else 0. */
    z.strictObject({ type: z.literal('code'), language: codeLanguage }),
    /** Similarity of the change that the response makes to the gold patch; never executes anything. */
    z.strictObject({ type: z.literal('swe'), reward: z.literal('lexical').default('lexical') }),
  ])
  .meta({ id: 'Grader' });
export type Grader = z.infer<typeof grader>;
export type GraderOf<Type extends Grader['type']> = Extract<Grader, { type: Type }>;

/** Whose rows a grader understands. */
export const gradedKinds: Readonly<Record<Grader['type'], readonly [TaskKind, ...TaskKind[]]>> = {
  exact: ['math'],
  prefix: ['math'],
  math: ['math'],
  instructions: ['instruction'],
  code: ['code'],
  swe: ['swe'],
};

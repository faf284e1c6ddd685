// What gives a rollout its reward. The objects below appear wherever a `grader` is named.
import { z } from 'zod';
import { checkpointId } from './names.ts';
import { endpoint } from './outgoing.ts';
import type { TaskKind } from './task.ts';

export const codeLanguage = z.enum(['python', 'javascript', 'typescript']);
export type CodeLanguage = z.infer<typeof codeLanguage>;

/** A model behind an OpenAI-compatible endpoint that judges; `url` is what "/chat/completions" is appended to. */
const judgeFields = {
  ...endpoint('60s'),
  model: z.string().min(1).max(200),
  temperature: z.number().min(0).max(2).default(0),
  max_tokens: z
    .number()
    .int()
    .min(1)
    .max(131_072)
    .default(1024)
    .describe('of one verdict, thinking included'),
};
export const judgeEndpoint = z.strictObject(judgeFields);
export type JudgeEndpoint = z.infer<typeof judgeEndpoint>;

/** What a template of each kind of prompt must hold; docs/graders/judge.md lists all that it may. */
const requiredPlaces = {
  yes_no: ['{response}'],
  pairwise: ['{first}', '{second}'],
  group: ['{first}', '{second}'],
} as const;

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
    z
      .strictObject({
        type: z.literal('swe'),
        reward: z
          .enum(['lexical', 'judge'])
          .default('lexical')
          .describe('judge: P(yes) that the change does what the gold patch does'),
        judge: judgeEndpoint.optional(),
      })
      .refine(({ reward, judge }) => (reward === 'judge') === (judge !== undefined), {
        error: 'goes with reward "judge", and only with it',
        path: ['judge'],
      }),
    /** What a scalar reward model says of the answer: any number. `model` is a checkpoint with a scalar head. */
    z.strictObject({ type: z.literal('preference'), model: checkpointId }),
    /** Whatever an HTTP service says; docs/graders/remote.md has the protocol. */
    z.strictObject({
      type: z.literal('remote'),
      ...endpoint('10s'),
      batch: z.number().int().min(1).max(256).default(1).describe('items in one request, at most'),
      max_score: z
        .number()
        .nullable()
        .default(1)
        .describe('what the gold answer must reach, and nothing may exceed; null: there is no such value'),
    }),
    /** What a judging model says: P(yes), or wins against the row’s reference; docs/graders/judge.md. */
    z
      .strictObject({
        type: z.literal('judge'),
        ...judgeFields,
        prompt: z
          .enum(['yes_no', 'pairwise', 'group'])
          .describe('group: the rollouts of a group with one another, in RL stages alone'),
        pairs: z
          .enum(['all', 'ring'])
          .optional()
          .describe('of prompt group: every pair once (default), or each with the next in both orders'),
        template: z.string().min(1).max(100_000).optional().describe('default: a prompt of ours'),
      })
      .superRefine(({ prompt, template }, context) => {
        const missing = requiredPlaces[prompt].filter((place) => template?.includes(place) === false);
        if (missing.length > 0)
          context.addIssue({
            code: 'custom',
            path: ['template'],
            message: `must hold ${missing.join(' and ')}`,
          });
      })
      .refine(({ prompt, pairs }) => prompt === 'group' || pairs === undefined, {
        error: 'goes with prompt "group", and only with it',
        path: ['pairs'],
      }),
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
  preference: ['preference', 'math', 'instruction', 'code', 'swe'],
  remote: ['math', 'preference', 'instruction', 'code', 'swe'],
  judge: ['math', 'preference', 'instruction', 'code', 'swe'],
};

/** Rows whose own reference an answer can be compared with. */
const referencedKinds = ['preference', 'math'] as const;

/** `gradedKinds` of one grader, its options looked at. */
export const kindsGradedBy = (given: Grader): readonly [TaskKind, ...TaskKind[]] =>
  given.type === 'judge' && given.prompt === 'pairwise' ? referencedKinds : gradedKinds[given.type];

/** Whether there is a best score, which is what being right, or passing, means. */
export const hasMaximum = (given: Grader): boolean => {
  if (given.type === 'remote') return given.max_score !== null;
  // Within a group answers are worth what they are beside one another.
  return given.type !== 'preference' && !(given.type === 'judge' && given.prompt === 'group');
};

const verdicts: ReadonlySet<Grader['type']> = new Set(['exact', 'math', 'instructions', 'code']);

/** Whether it gives 1 to an answer that is wholly right; the others give shares, chances, or numbers of a scale of their own. */
export const givesOneWhereRight = (given: Grader): boolean =>
  verdicts.has(given.type) || (given.type === 'remote' && given.max_score === 1);

/** Whether it can say which of two answers is better. */
export const comparesAnswers = (given: Grader): boolean =>
  given.type === 'preference' || (given.type === 'judge' && given.prompt === 'pairwise');

/** `kindsGradedBy` where the answer is compared with the row's own. */
export const kindsCompared = (given: Grader): readonly [TaskKind, ...TaskKind[]] =>
  comparesAnswers(given) ? referencedKinds : kindsGradedBy(given);

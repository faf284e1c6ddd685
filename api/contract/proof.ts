// How a dataset's gold is proven when it is registered: gold must reach the grader's maximum, or the grader would teach
// something wrong. Which rows can be proven, by which grader, and what is known without asking anybody.
import type { CodeLanguage, Grader } from './grader.ts';
import type { DatasetKind, RowOf } from './task.ts';

/**
 * - `definition`: gold equals itself, nothing is to be run;
 * - `errand`: a runner grades every row's gold;
 * - `none`: rows carry no gold, or their grader is somebody's opinion: the schema is all that is checked.
 */
export type Proof = 'definition' | 'errand' | 'none';

const proofs: Readonly<Record<Grader['type'], Proof>> = {
  exact: 'definition',
  prefix: 'definition',
  math: 'errand',
  code: 'errand',
  swe: 'errand',
  instructions: 'none',
  preference: 'none',
  remote: 'none',
  judge: 'none',
};

export const proofOf = (grader: Grader | undefined): Proof =>
  grader === undefined ? 'none' : proofs[grader.type];

/** The grader that proves rows of a kind where none is named. */
export const provingGrader: Readonly<Partial<Record<DatasetKind, Grader>>> = {
  math: { type: 'math' },
  code: { type: 'code', language: 'python' },
  swe: { type: 'swe', reward: 'lexical' },
};

/** Whether the row's gold is worth 0, for graders that prove by definition: nothing could be learnt from it. */
export const isWorthNothing = (grader: Grader, row: RowOf<DatasetKind>): boolean =>
  grader.type === 'prefix' && 'answer' in row && row.answer === '';

/** Code languages that a runner must have a back end for. */
export const languagesOf = (graders: Iterable<Grader>): CodeLanguage[] => [
  ...new Set([...graders].flatMap((one) => (one.type === 'code' ? [one.language] : []))),
];

// Which graders give one response to one task the same reward whenever they are asked: then an answer that a batch holds several
// times is graded once. Models and services may answer otherwise each time, and a patch that a model judges is among them.
import type { Grader } from '../../api/contract/grader.ts';

const always: ReadonlySet<Grader['type']> = new Set(['exact', 'prefix', 'math', 'instructions', 'code']);

export const isDeterministic = (grader: Grader): boolean =>
  always.has(grader.type) || (grader.type === 'swe' && grader.judge === undefined);

// What a batch may do with a grader's answers: begin them while others are still sampled, and take one for all equal responses.
import type { Grader } from '../../api/contract/grader.ts';

const always: ReadonlySet<Grader['type']> = new Set(['exact', 'prefix', 'math', 'instructions', 'code']);

export const isDeterministic = (grader: Grader): boolean =>
  always.has(grader.type) || (grader.type === 'swe' && grader.judge === undefined);

/**
 * How many responses are worth waiting for before a grader is asked about them together. A service takes batches; a reward model
 * computes where the sampler does, so nothing is won beside it, and the responses of a step always fall into the same batches.
 */
export function askedTogether(grader: Grader): number {
  if (grader.type === 'preference') return Infinity;
  return grader.type === 'remote' ? grader.batch : 1;
}

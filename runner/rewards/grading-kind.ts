// What a batch may do with a grader's answers: begin them while others are still sampled, and take one for all equal responses.
import type { Grader } from '../../api/contract/grader.ts';

const always: ReadonlySet<Grader['type']> = new Set(['exact', 'prefix', 'math', 'instructions', 'code']);

/** Does one response to one task get the same reward whenever it is asked about? Models and services may answer otherwise. */
export const isDeterministic = (grader: Grader): boolean =>
  always.has(grader.type) || (grader.type === 'swe' && grader.judge === undefined);

/**
 * Does it compute where the sampler does, with a model of its own? Then nothing is won beside the sampler, and small batches would
 * cost: it is asked about all at once, so that the responses of a step always fall into the same batches of it.
 */
export const computesHere = ({ type }: Grader): boolean => type === 'preference';

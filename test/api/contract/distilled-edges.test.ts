// What a stage that distils is refused for at the edges: beside other faults of the spec, and where its numbers end.
import { expect, it } from 'vitest';
import { issuesOf } from '../../../api/contract/issues.ts';
import { jobSpec } from '../../../api/contract/spec.ts';

const math = { kind: 'math', data: 'sums', steps: 1 };
const suites = [{ name: 'math', data: 'tasks', grader: { type: 'exact' } }];

/** A stage that distils, behind one that is trained by rewards. */
const faultsOf = (changes: object, before: object = math): string[] => {
  const { error } = jobSpec.safeParse({
    type: 'cascade',
    model: { init: { from: 'hf', uri: '/models/a' } },
    stages: [before, { kind: 'distill', steps: 2, ...changes }],
    evaluate: { suites },
  });
  return error === undefined ? [] : issuesOf(error).map(({ pointer, message }) => `${pointer}: ${message}`);
};

it('a stage before it whose domain is no name is the fault, and nothing is thrown', () => {
  expect(faultsOf({}, { ...math, domain: '-math' })).toContainEqual(
    expect.stringMatching(/^\/stages\/0\/domain: letters, digits/),
  );
});

it.each([1e-7, 1e-300, 1 - 1e-9])('no beta of %d, where the divergence is nothing', (beta) => {
  const of = (given: number): string[] => faultsOf({ objective: { type: 'divergence', beta: given } });
  expect(of(beta)).toEqual([
    expect.stringMatching(/^\/stages\/1\/objective\/beta: from 0.000001 to 1 - 0.000001, or 0 or 1/),
  ]);
  for (const given of [0, 1e-6, 0.5, 1]) expect(of(given)).toEqual([]);
});

// Parts of small specs for the tests of those that are refused.
import { spec } from './support.ts';

export const math = { kind: 'math', data: 'math', steps: 1, max_response: 8, filter: { type: 'off' } };
export const cascade = (stage: object, changes: object = {}) =>
  spec({ stages: [stage], evaluate: undefined, ...changes });
export const evaluated = (suite: object) => cascade(math, { evaluate: { suites: [suite] } });
export const suite = { name: 's', data: 'math', grader: { type: 'exact' } };
export const judge = { type: 'judge', url: 'https://judge.example/v1', model: 'judge' };
export const remote = { type: 'remote', url: 'https://grader.example/' };
export const domains = (...given: object[]) => ({
  kind: 'multi_domain',
  steps: 1,
  max_response: 8,
  domains: given.map((one, index) => ({
    domain: `d${index}`,
    data: 'math',
    grader: { type: 'exact' },
    ...one,
  })),
});
export function rewardModel(changes: object = {}, stage: object = {}) {
  const whole = { kind: 'reward_model', data: 'pairs', max_length: 32, ...stage };
  return spec({ type: 'reward_model', stages: undefined, stage: whole, evaluate: undefined, ...changes });
}

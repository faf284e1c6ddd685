// Which rule about language mixing a stage gets where it names none.
import { expect, test } from 'vitest';
import { expandSpec } from '../../../api/contract/expand.ts';
import { jobSpec } from '../../../api/contract/spec.ts';

const init = { from: 'hf', uri: '/models/a' };
const id = 'ds_0123456789abcdef0123';
const expanded = (stage: object) =>
  expandSpec(
    jobSpec.parse({
      type: 'cascade',
      model: { init },
      stages: [{ kind: 'math', data: 'a', steps: 1, ...stage }],
    }),
    new Map([['a', id]]),
  ).stages[0]!;

test.each([
  [{}, 'minus_one'],
  [{ grader: { type: 'math' } }, 'minus_one'],
  [{ grader: { type: 'code', language: 'python' } }, 'zero'],
  [{ grader: { type: 'instructions' } }, 'off'],
  [{ grader: { type: 'swe' } }, 'off'],
  [{ grader: { type: 'prefix' } }, 'off'],
  [{ language_mixing: 'off' }, 'off'],
  [{ grader: { type: 'prefix' }, language_mixing: 'batch_minimum' }, 'batch_minimum'],
])('%j: %s', (stage, rule) => {
  expect(expanded(stage)).toMatchObject({ language_mixing: rule, length_control: 'off' });
});

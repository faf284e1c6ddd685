// Which rollouts of a step are kept, and under which numbers.
import { expect, it } from 'vitest';
import type { JudgedGroup } from '../../../runner/cascade/rl/judge.ts';
import { sourceOf } from '../../support/source.ts';
import { chooseSamples } from '../../../runner/cascade/rl/samples.ts';

const source = sourceOf([
  { prompt: 'a', answer: '1' },
  { prompt: 'b', answer: '2' },
]);

const group = (task: number, size: number): JudgedGroup => ({
  source,
  task,
  mode: 'thinking',
  rollouts_G: Array.from({ length: size }, (_, g) => ({
    rollout: {
      prompt: Int32Array.of(1),
      response: Int32Array.of(g),
      logProbs: new Float32Array(1),
      truncated: false,
      text: `${task}-${g}`,
    },
    outcome: { status: 'scored', value: g, parts: { tests: g } },
    reward: g,
    inLoss: true,
    penalties: Object.fromEntries(g === 1 ? [['language_mixing', -2]] : []),
    advantage: 0,
  })),
  std: 1,
});

const placesOf = (groups: readonly JudgedGroup[], count: number) =>
  chooseSamples(groups, count).map(({ task, rollout }) => [task, rollout]);

it('spreads over the groups of the step, and keeps no more than there are', () => {
  expect(placesOf([group(0, 4), group(1, 4)], 4)).toEqual([
    [0, 0],
    [0, 2],
    [1, 0],
    [1, 2],
  ]);
  expect(placesOf([group(0, 2)], 8)).toHaveLength(2);
  expect(placesOf([group(0, 2)], 0)).toEqual([]);
});

it('says beside the grader’s parts which penalties changed the reward', () => {
  const parts = chooseSamples([group(0, 2)], 2).map((sample) => sample.parts);
  expect(parts).toEqual([{ tests: 0 }, { tests: 1, language_mixing: -2 }]);
});

it('files them under the mode that was asked for', () => {
  expect(chooseSamples([group(0, 1)], 1)).toMatchObject([{ mode: 'thinking' }]);
});

it('numbers rollouts within their group where a batch that wraps asks one task twice', () => {
  const numbers = placesOf([group(0, 2), group(0, 2), group(1, 2)], 6).map(([, rollout]) => rollout);
  expect(numbers).toEqual([0, 1, 0, 1, 0, 1]);
});

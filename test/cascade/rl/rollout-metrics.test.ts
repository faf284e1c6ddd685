// What a step tells of its rollouts: of the batch, of each mode, of each domain.
import { describe, expect, it } from 'vitest';
import type { JudgedGroup } from '../../../runner/cascade/rl/judge.ts';
import { partMeans } from '../../../runner/cascade/rl/part-means.ts';
import { modeMetrics, rolloutMetrics } from '../../../runner/cascade/rl/rollout-metrics.ts';
import { chooseSamples } from '../../../runner/cascade/rl/samples.ts';
import { scored } from '../../../runner/rewards/reward.ts';
import { gradedAs } from '../../support/groups.ts';
import { sourceOf } from '../../support/source.ts';

const rows = [{ prompt: 'a', answer: '1' }];
const math = sourceOf(rows);
const code = sourceOf(rows, { domain: 'code' });

interface Given {
  readonly parts?: Record<string, number>;
  readonly penalties?: Record<string, number>;
  readonly text?: string;
}
const judged = (value: number | null, { parts = {}, penalties = {}, text = '' }: Given = {}) => ({
  ...gradedAs(value, text),
  ...(value === null ? {} : { outcome: scored(value, parts) }),
  inLoss: true,
  penalties,
  advantage: 0,
});
const group = (
  given: Partial<JudgedGroup>,
  rollouts_G: JudgedGroup['rollouts_G'],
  std: number | null = 1,
): JudgedGroup => ({ source: math, task: 0, mode: undefined, std, ...given, rollouts_G });

describe('rolloutMetrics', () => {
  it('tells lengths of thinking and answer in characters, of the responses that have them', () => {
    const metrics = rolloutMetrics([
      group({}, [judged(1, { text: '<think>abcd</think>\n\nxy' }), judged(1, { text: 'wxyz' })]),
      // What never ends the block is all thinking, and has no answer.
      group({}, [judged(0, { text: '<think>12345678' }), judged(0, { text: '<think>ab</think>c' })]),
    ]);
    expect(metrics).toMatchObject({ thinking_length: (4 + 8 + 2) / 3, answer_length: (2 + 4 + 1) / 3 });
    expect(rolloutMetrics([group({}, [judged(1, { text: 'a' })])])).not.toHaveProperty('thinking_length');
  });

  it('tells each domain by itself where there are several', () => {
    const metrics = rolloutMetrics([
      group({}, [judged(1), judged(1)], 0),
      group({ source: code }, [judged(0), judged(null)], null),
    ]);
    expect(metrics).toMatchObject({
      reward: 2 / 3,
      unscored: 0.25,
      zero_variance: 0.5,
      'math.reward': 1,
      'math.zero_variance': 1,
      'math.unscored': 0,
      'code.reward': 0,
      'code.dropped_groups': 1,
      'code.unscored': 0.5,
    });
    expect(Object.keys(rolloutMetrics([group({}, [judged(1)])])).some((key) => key.includes('math.'))).toBe(
      false,
    );
  });

  it('keeps its names within what a metric’s name may be', () => {
    const domain = 'd'.repeat(63);
    const long = sourceOf(rows, { domain });
    const parts = { [`0:${'x'.repeat(300)}`]: 1, 'a\nb': 0 };
    const metrics = rolloutMetrics([group({}, [judged(1)]), group({ source: long }, [judged(1, { parts })])]);
    for (const key of Object.keys(metrics)) expect(key).toMatch(/^.{1,100}$/);
  });
});

describe('partMeans', () => {
  it('is over the rollouts that have a part; a penalty that did nothing counts 0', () => {
    const all = [
      judged(1, { parts: { '0:length': 1, '1:case': 0 } }),
      judged(0, { parts: { '0:case': 1 }, penalties: { overlong: -1 } }),
    ];
    expect(partMeans(all)).toEqual({ 'parts.length': 1, 'parts.case': 0.5, 'parts.overlong': -0.5 });
  });
});

describe('modes', () => {
  const halves = [
    group({ mode: 'thinking' }, [judged(1), judged(1)]),
    group({ mode: 'non_thinking' }, [judged(0), judged(1)]),
  ];

  it('are told apart where a batch has both, and add up to the whole', () => {
    const modes = modeMetrics(halves)!;
    expect(modes).toMatchObject({ thinking: { reward: 1 }, non_thinking: { reward: 0.5 } });
    expect(rolloutMetrics(halves)['reward']).toBe(0.75);
    expect(modeMetrics(halves.slice(0, 1))).toBeUndefined();
  });

  it('are not halves where one domain asks for no mode and the other for non_thinking: both are filed as that', () => {
    const groups = [group({}, [judged(1)]), group({ source: code, mode: 'non_thinking' }, [judged(0)])];
    expect(modeMetrics(groups)).toBeUndefined();
  });

  it('both have samples, and so has every domain', () => {
    const groups = [...halves, group({ source: code, mode: 'thinking' }, [judged(1), judged(0)])];
    const kinds = chooseSamples(groups, 3).map(({ mode, prompt }) => [mode, prompt]);
    expect(kinds.map(([mode]) => mode)).toEqual(['thinking', 'non_thinking', 'thinking']);
    expect(chooseSamples(groups, 4)).toHaveLength(4);
    expect(chooseSamples(groups, 99)).toHaveLength(6);
  });
});

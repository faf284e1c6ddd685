// Penalties of a batch between grading and advantages: who gets which, in which order, and who is left alone.
import { describe, expect, it } from 'vitest';
import type { Graded } from '../../../runner/cascade/graded.ts';
import { applyPenalties } from '../../../runner/cascade/rl/penalties.ts';
import type { PenaltyPolicy } from '../../../runner/cascade/rl/penalties.ts';
import { judge } from '../../../runner/cascade/rl/judge.ts';
import { sourceOf } from '../../support/source.ts';
import { rolloutMetrics } from '../../../runner/cascade/rl/rollout-metrics.ts';

const clean = 'So the answer is 4.';
const mixed = 'So 答案是 4.';

const graded = (reward: number | null, text = clean, { tokens = 4, truncated = false } = {}): Graded => ({
  rollout: {
    prompt: Int32Array.of(1),
    response: new Int32Array(tokens),
    logProbs: new Float32Array(tokens),
    truncated,
    text,
  },
  outcome:
    reward === null
      ? { status: 'unscored', code: 'sandbox_down' }
      : { status: 'scored', value: reward, parts: {} },
  reward,
});

const off: PenaltyPolicy = {
  overlong: 'keep',
  max_response: 10,
  language_mixing: 'off',
  length_control: 'off',
  shaping: 'off',
  preferred: false,
};
const prompts = ['What is 2 + 2?', 'What is 1 + 3?'];
const place = { task: 0, mode: undefined };
const penalised = (policy: Partial<PenaltyPolicy>, groups_P: readonly (readonly Graded[])[]) =>
  applyPenalties({ ...off, ...policy }, prompts, groups_P);
const rewards = (policy: Partial<PenaltyPolicy>, groups_P: readonly (readonly Graded[])[]) =>
  penalised(policy, groups_P).map((group) => group.map(({ reward }) => reward));

describe('language mixing', () => {
  const groups = [
    [graded(1), graded(1, mixed), graded(0)],
    [graded(-2), graded(null, mixed), graded(0.5, mixed)],
  ];

  it('off leaves every reward as it was graded', () => {
    expect(rewards({}, groups)).toEqual([
      [1, 1, 0],
      [-2, null, 0.5],
    ]);
  });

  it('zero and minus_one put a fixed reward in place of the grader’s', () => {
    expect(rewards({ language_mixing: 'zero' }, groups)).toEqual([
      [1, 0, 0],
      [-2, null, 0],
    ]);
    expect(rewards({ language_mixing: 'minus_one' }, groups)).toEqual([
      [1, -1, 0],
      [-2, null, -1],
    ]);
  });

  it('batch_minimum goes 10 below the lowest reward of all groups, unscored ones aside', () => {
    expect(rewards({ language_mixing: 'batch_minimum' }, groups)).toEqual([
      [1, -12, 0],
      [-2, null, -12],
    ]);
    expect(rewards({ language_mixing: 'batch_minimum' }, [[graded(null, mixed)]])).toEqual([[null]]);
  });

  it('counts in thinking as well as in the answer', () => {
    const thought = `<think>${mixed}</think>${clean}`;
    expect(rewards({ language_mixing: 'minus_one' }, [[graded(1, thought)]])).toEqual([[-1]]);
  });

  it('is measured against the prompt of its own group', () => {
    const policy = { ...off, language_mixing: 'minus_one' } as const;
    const [chinese, english] = applyPenalties(
      policy,
      ['二加二等于几?', 'What is 2 + 2?'],
      [[graded(1, mixed)], [graded(1, mixed)]],
    );
    expect([chinese![0]!.reward, english![0]!.reward]).toEqual([1, -1]);
  });

  it('cannot be bought off by running too long, and a filtered rollout stays out of the loss', () => {
    const long = [[graded(1, mixed, { truncated: true }), graded(1, clean, { truncated: true }), graded(1)]];
    expect(rewards({ language_mixing: 'minus_one', overlong: 'zero' }, long)).toEqual([[-1, 0, 1]]);
    const filtered = penalised({ language_mixing: 'minus_one', overlong: 'filter' }, long)[0]!;
    expect(filtered.map(({ inLoss }) => inLoss)).toEqual([false, false, true]);
    expect(judge(filtered).rollouts_G.map(({ advantage }) => advantage === null)).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('length control', () => {
  it('works on the grader’s rewards, before the overlong policy, and leaves unscored ones out', () => {
    // Answers of 1, 3 and 5 characters, no thinking: w = 1, 1/2, 0; centred and halved 1/4, 0, -1/4; P80 of 0, 1, 1 is 1,
    // the shortest has 0.
    const group = [graded(0, 'a'), graded(1, 'abc'), graded(1, 'abcde'), graded(null, '')];
    expect(rewards({ length_control: 'group_relative' }, [group])).toEqual([[0.25, 1, 0.75, null]]);
  });

  it('thinking and answer are parted at the end of the thinking block; what never answered has no answer', () => {
    // Thinking of 20, 30 and 40 characters with its tags, answers of 2, 2 and none.
    const think = (length: number) => `<think>${'x'.repeat(length - 15)}</think>`;
    const group = [
      graded(1, `${think(20)}ok`),
      graded(0, `${think(30)}no`),
      graded(0, `<think>${'x'.repeat(33)}`),
    ];
    // w = 1, 1/2, 0; halved 1/4, 0, -1/4; P80 of 0, 0, 1 is 0.6: the shortest gains 1/2. Equal answers: nothing.
    expect(rewards({ length_control: 'group_relative' }, [group])).toEqual([[1.75, 0, -0.25]]);
  });
});

describe('what is told about penalties', () => {
  const policy = {
    language_mixing: 'minus_one',
    overlong: 'penalty',
    length_control: 'group_relative',
  } as const;
  const groups = [[graded(1, 'abc'), graded(1, mixed, { tokens: 9 }), graded(-1, mixed, { tokens: 9 })]];

  it('names each with what it added, so that the parts sum to the reward; absent where it did nothing', () => {
    const group = penalised(policy, groups)[0]!;
    for (const { outcome, reward, penalties } of group) {
      const given = outcome.status === 'scored' ? outcome.value : Number.NaN;
      expect(Object.values(penalties).reduce((sum, part) => sum + part, given)).toBeCloseTo(reward!, 12);
    }
    expect(group.map(({ penalties }) => Object.keys(penalties))).toEqual([
      ['length_control'],
      ['length_control', 'overlong', 'language_mixing'],
      ['length_control', 'overlong', 'language_mixing'],
    ]);
    expect(penalised(off, groups)[0]!.map(({ penalties }) => penalties)).toEqual([{}, {}, {}]);
  });

  it('the step’s metrics have the share of rollouts that mix, where it is looked for', () => {
    const all = [[graded(1), graded(1, mixed), graded(-1, mixed), graded(null, mixed)], [graded(0)]];
    const metrics = (language_mixing: PenaltyPolicy['language_mixing']) =>
      rolloutMetrics(
        penalised({ language_mixing }, all).map((group) => ({
          ...judge(group),
          ...place,
          source: sourceOf([], { languageMixing: language_mixing }),
        })),
      );
    // Of the four that are scored; the one that is worth -1 anyway is counted.
    expect(metrics('minus_one')['language_mixing']).toBe(0.5);
    expect(metrics('off')).not.toHaveProperty('language_mixing');
  });
});

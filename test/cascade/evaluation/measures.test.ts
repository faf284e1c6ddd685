// What suites measure, from graded answers: pass@j, averages, points, win rates.
import { describe, expect, it } from 'vitest';
import { averages } from '../../../runner/cascade/evaluation/average.ts';
import { passAt } from '../../../runner/cascade/evaluation/pass-at.ts';
import { points, subtasksOf } from '../../../runner/cascade/evaluation/points.ts';
import { winRate, winVerifier } from '../../../runner/cascade/evaluation/win-rate.ts';
import type { Graded } from '../../../runner/cascade/graded.ts';
import { DataError } from '../../../runner/data/error.ts';
import { preferenceVerifier } from '../../../runner/rewards/preference.ts';
import { prefixMaximum, prefixReward } from '../../../runner/rewards/prefix.ts';
import type { Reward } from '../../../runner/rewards/reward.ts';
import { invalid, scored, unscored } from '../../../runner/rewards/reward.ts';
import type { Verifier } from '../../../runner/rewards/verifier.ts';

const rollout = {
  prompt: Int32Array.of(1),
  response: Int32Array.of(2),
  logProbs: Float32Array.of(0),
  truncated: false,
  text: '',
};
const graded = (outcome: Reward): Graded => ({
  rollout,
  outcome,
  reward: outcome.status === 'unscored' ? null : outcome.value,
});
const ofValues = (values: readonly (number | null)[]): Graded[] =>
  values.map((value) => graded(value === null ? unscored('verifier_down') : scored(value)));

describe('passAt', () => {
  it.each([
    // 1 - C(3, 2) / C(5, 2) = 1 - 3/10
    [5, 2, 2, 0.7],
    // 1 - C(9, 5) / C(10, 5) = 1 - 126/252
    [10, 1, 5, 0.5],
    // The share that passed, for one draw.
    [8, 3, 1, 0.375],
    // Fewer failed than are drawn: one of them must have passed.
    [4, 2, 3, 1],
    [6, 0, 6, 0],
    [6, 6, 1, 1],
    // C(1024, 512) is beyond a double.
    [1024, 1, 512, 0.5],
  ])('of %i samples, %i passed, %i drawn', (n, c, j, chance) => {
    expect(passAt(n, c, j)).toBeCloseTo(chance, 12);
  });
});

describe('averages', () => {
  const rows = [
    { prompt: 'a', answer: '12' },
    { prompt: 'b', answer: '345' },
  ];
  const prefix = { maxScore: (row: (typeof rows)[number]) => prefixMaximum(row.answer) } as Verifier;

  it('means the scored answers of a task, and leaves a task without one out', () => {
    const [avg] = averages({ k: 4, pass_at: [] }, rows, prefix, [
      ofValues([1, 0, null, 0.5]),
      ofValues([null, null, null, null]),
    ]);
    expect(avg).toMatchObject({ metric: 'avg@4', values: [0.5, null] });
  });

  it('passes what reaches the most that its own task is worth', () => {
    // 12 is worth 2/3 where it is right; of 345 "34" is worth the same 2/4 + ..., and is not right.
    const right = prefixReward('12', '12');
    const partly = prefixReward('345', '34');
    const full = prefixReward('345', '345');
    const measures = averages({ k: 2, pass_at: [1, 2] }, rows, prefix, [
      [graded(right), graded(invalid('no_answer'))],
      [graded(partly), graded(full)],
    ]);
    expect(measures.map(({ metric }) => metric)).toEqual(['avg@2', 'pass@1', 'pass@2']);
    expect(measures[1]!.values).toEqual([0.5, 0.5]);
    expect(measures[2]!.values).toEqual([1, 1]);
  });

  it('says nothing of pass@j where fewer than j answers were scored', () => {
    const [, pass] = averages({ k: 2, pass_at: [2] }, rows, { maxScore: () => 1 }, [
      ofValues([1, null]),
      ofValues([0, 1]),
    ]);
    expect(pass!.values).toEqual([null, 1]);
  });

  it('has no bounds where the grader has no maximum', () => {
    const [avg] = averages({ k: 1, pass_at: [] }, rows, { maxScore: () => Infinity }, [
      ofValues([3]),
      ofValues([-2]),
    ]);
    expect(avg!.most).toBeUndefined();
  });
});

describe('points', () => {
  const subtasks = [
    { points: 20, tests: 'a' },
    { points: 30, tests: 'b' },
    { points: 50, tests: 'c' },
  ];
  const solving = (...solved: number[]) =>
    graded(
      scored(
        solved.length === 3 ? 1 : 0,
        Object.fromEntries([1, 2, 3].map((n) => [`subtask_${n}`, solved.includes(n) ? 1 : 0])),
      ),
    );

  it('are those of the subtasks that any of the answers solves', () => {
    const [total, share] = points(
      [subtasks, subtasks, subtasks.slice(0, 2)],
      [
        // 20 by the first, 50 by the second: 70, though no answer has more than 50.
        [solving(1), solving(3), graded(invalid('timeout'))],
        [solving(), graded(unscored('sandbox_down')), solving(1, 2)],
        [solving(1), solving(1), solving(1)],
      ],
    );
    expect(total).toEqual({ metric: 'points', values: [70, 50, 20], most: 100 });
    expect(share).toEqual({ metric: 'points_share', values: [0.7, 0.5, 0.4], most: 1 });
  });

  it('are unknown where no answer was scored', () => {
    const [total] = points([subtasks], [[graded(unscored('sandbox_down'))]]);
    expect(total!.values).toEqual([null]);
  });

  it('want rows with subtasks', () => {
    const rows = [
      { prompt: 'p', subtasks },
      { prompt: 'q', tests: 'assert True' },
    ];
    expect(() => subtasksOf(rows, 'suite ioi, dataset ds')).toThrow(
      new DataError('suite ioi, dataset ds, row 1: points are of subtasks, and the row has none'),
    );
  });
});

describe('winVerifier', () => {
  const rows = [
    { prompt: 'p', chosen: 'four', rejected: 'no' },
    { prompt: 'q', answer: '12' },
  ];
  const grader = { type: 'preference', model: 'ckpt_x' } as never;
  /** Longer is better. Counts what it is asked, by answer. */
  const byLength = (asked: string[], fault: () => boolean = () => false) =>
    preferenceVerifier(async (items) =>
      items.map(({ answer }) => {
        asked.push(answer);
        return fault() ? { fault: 'away' } : { value: answer.length };
      }),
    ) as Verifier;

  it('compares an answer’s score with the reference’s: 1, 0.5 for a tie, 0', async () => {
    const asked: string[] = [];
    const verifier = winVerifier(grader, byLength(asked), rows, 'suite s');
    const values = [];
    for (const answer of ['seven--', 'abcd', 'abc']) {
      const reward = await verifier.grade(rows[0]!, answer);
      values.push(reward.status === 'scored' ? [reward.value, reward.parts] : reward);
    }
    expect(values).toEqual([
      [1, { answer: 7, reference: 4 }],
      [0.5, { answer: 4, reference: 4 }],
      [0, { answer: 3, reference: 4 }],
    ]);
    expect(asked.filter((answer) => answer === 'four')).toHaveLength(1);
    expect(await verifier.grade(rows[1]!, '123')).toMatchObject({ value: 1 });
  });

  it('does not count what could not be scored, and asks for the reference again', async () => {
    let down = true;
    const verifier = winVerifier(
      grader,
      byLength([], () => down),
      rows,
      'suite s',
    );
    expect(await verifier.grade(rows[0]!, 'answer')).toMatchObject({ status: 'unscored' });
    down = false;
    expect(await verifier.grade(rows[0]!, 'answer')).toMatchObject({ status: 'scored', value: 1 });
  });

  it('names the row that has no reference', () => {
    const row = { prompt: 'r', instruction_id_list: ['x'], kwargs: [{}] };
    expect(() => winVerifier(grader, byLength([]), [rows[0]!, row], 'suite s, dataset d')).toThrow(
      /^suite s, dataset d, row 1: a win rate needs a reference/,
    );
  });

  it('gives a task the mean over its answers', () => {
    expect(winRate([ofValues([1, 0.5, null]), ofValues([null])])).toEqual({
      metric: 'win_rate',
      values: [0.75, null],
      most: 1,
    });
  });
});

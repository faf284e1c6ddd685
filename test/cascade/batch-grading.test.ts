// Grading that begins while others are still sampled: the same results in the same places as grading afterwards, one for all equal
// answers where the grader is certain, and no answer that hears of another's outage.
import { describe, expect, it } from 'vitest';
import { BatchGrading } from '../../runner/cascade/batch-grading.ts';
import { gradeGroups } from '../../runner/cascade/grading.ts';
import type { Reward } from '../../runner/rewards/reward.ts';
import { scored, unscored } from '../../runner/rewards/reward.ts';
import { gradedAs } from '../support/groups.ts';
import { noOutage } from '../support/tiny-policy.ts';

const place = { stage: 'math', step: 1, suite: null };
const rolloutOf = (text: string) => gradedAs(0, text).rollout;

/** Grades that end when the test says so. */
function held() {
  const waiting = new Map<string, (reward: Reward) => void>();
  const asked: string[] = [];
  return {
    asked,
    grade: (text: string) => () =>
      new Promise<Reward>((resolve) => {
        asked.push(text);
        waiting.set(text, resolve);
      }),
    settle: (text: string, value: number) => waiting.get(text)!(scored(value)),
  };
}
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => void setImmediate(resolve));
};

describe('BatchGrading', () => {
  it('keeps places whatever is begun and done first, as grading afterwards does', async () => {
    const { grade, settle, asked } = held();
    const grading = new BatchGrading(place, noOutage);
    for (const [p, g] of [
      [1, 1],
      [0, 0],
      [1, 0],
      [0, 1],
    ] as const)
      grading.begin(p, g, { rollout: rolloutOf(`${p}${g}`), grade: grade(`${p}${g}`) });
    await turns(2);
    expect(asked).toHaveLength(4);
    for (const text of ['10', '01', '11', '00']) settle(text, Number(text));
    const graded = await grading.end();
    const verifier = {
      grade: async (_: unknown, text: string) => scored(Number(text)),
      maxScore: () => 1,
      goldResponse: () => undefined,
    };
    const rollouts = [
      ['00', '01'],
      ['10', '11'],
    ].map((texts) => texts.map(rolloutOf));
    const tasks = [
      { prompt: 'a', answer: '' },
      { prompt: 'b', answer: '' },
    ];
    expect(graded).toEqual(await gradeGroups(verifier, tasks, rollouts, place, noOutage));
  });

  it('begins no grade before the thread had a turn for the sampler', async () => {
    const { grade, asked, settle } = held();
    const grading = new BatchGrading(place, noOutage);
    grading.begin(0, 0, { rollout: rolloutOf('a'), grade: grade('a') });
    await Promise.resolve();
    expect(asked).toEqual([]);
    await turns(2);
    expect(asked).toEqual(['a']);
    settle('a', 1);
    expect(await grading.end()).toMatchObject([[{ reward: 1 }]]);
    expect(grading.busySeconds).toBeGreaterThan(0);
  });

  it('asks once about equal answers, and again about all that it could not score', async () => {
    let down = true;
    let asked = 0;
    const grade = async (): Promise<Reward> => {
      asked += 1;
      return down ? unscored('sandbox_down') : scored(1);
    };
    const outage = {
      ...noOutage,
      rewards: { ...noOutage.rewards, timeout: '30m' },
      clock: { now: () => 0, wait: async () => void (down = false) },
    };
    const grading = new BatchGrading(place, outage);
    for (const g of [0, 1, 2]) grading.begin(0, g, { rollout: rolloutOf('same'), grade, sameAs: 'same' });
    grading.begin(0, 3, { rollout: rolloutOf('same'), grade });
    const [group] = await grading.end();
    expect(group!.map(({ reward }) => reward)).toEqual([1, 1, 1, 1]);
    // Down, once more at once, and after the wait: each time once for the three and once for the one that shares nothing.
    expect(asked).toBe(6);
    expect(new Set(group!.map(({ rollout }) => rollout)).size).toBe(4);
  });
});

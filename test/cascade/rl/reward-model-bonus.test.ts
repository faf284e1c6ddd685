// What a reward model adds to instruction following, by hand, and that only what follows its instructions gains.
import { describe, expect, it } from 'vitest';
import type { Graded } from '../../../runner/cascade/graded.ts';
import { judgeBatch } from '../../../runner/cascade/rl/judge.ts';
import { rewardModelBonus } from '../../../runner/cascade/rl/reward-model-bonus.ts';
import type { Reward } from '../../../runner/rewards/reward.ts';
import { invalid, scored, unscored } from '../../../runner/rewards/reward.ts';
import { sourceOf } from '../../support/source.ts';

const graded = (outcome: Reward): Graded => ({
  rollout: {
    prompt: Int32Array.of(1),
    response: new Int32Array(3),
    logProbs: new Float32Array(3),
    truncated: false,
    text: '',
  },
  outcome,
  reward: outcome.status === 'unscored' ? null : outcome.value,
});
const liked = (follows: 0 | 1, preference: number) =>
  graded(scored(follows, { instructions: follows, preference }));

const whole = (group: readonly Graded[]) =>
  rewardModelBonus(group).map((bonus, g) => (bonus === null ? null : group[g]!.reward! + bonus));

describe('rewardModelBonus', () => {
  it('is the sigmoid of the score normalised over all scored answers of the group', () => {
    // Scores 1, 2, 3, 6: mean 3, sample std sqrt(14 / 3) = 2.160247; z = -0.925820, -0.462910, 0, 1.388730.
    // sigmoid: 0.283773, 0.386296, 0.5, 0.800389. The second follows nothing: 0, though its score counts in mean and std.
    const rewards = whole([liked(1, 1), liked(0, 2), liked(1, 3), liked(1, 6)]);
    expect(rewards[0]).toBeCloseTo(1.283773, 5);
    expect(rewards[1]).toBe(0);
    expect(rewards[2]).toBeCloseTo(1.5, 12);
    expect(rewards[3]).toBeCloseTo(1.800389, 6);
  });

  it('is one half where the scores have no variance, and for a single score', () => {
    expect(whole([liked(1, 7), liked(1, 7), liked(0, 7)])).toEqual([1.5, 1.5, 0]);
    expect(whole([liked(1, -30), graded(invalid('no_answer'))])).toEqual([1.5, 0]);
  });

  it('leaves unscored answers alone and out of mean and std; what never answered is worth nothing', () => {
    const missing = graded(unscored('verifier_down'));
    const silent = graded(invalid('no_answer'));
    const rewards = whole([liked(1, 1), missing, liked(0, 2), silent, liked(1, 3), liked(1, 6)]);
    expect(rewards).toEqual([
      ...whole([liked(1, 1), liked(0, 2), liked(1, 3), liked(1, 6)])
        .toSpliced(1, 0, null)
        .toSpliced(3, 0, 0),
    ]);
  });

  it('gives nothing to an answer that follows some of its instructions', () => {
    expect(whole([graded(scored(0.5, { preference: 9 })), liked(1, 1)])[0]).toBe(0);
  });
});

describe('judgeBatch', () => {
  const task = [{ prompt: 'p', answer: '' }];
  const phase = {
    steps: 1,
    temperature: 1,
    top_p: 1,
    top_k: 0,
    max_response: 9,
    overlong: 'keep',
  } as const;
  const judged = (rewardModel: string | undefined, shaping: 'off' | 'tanh' = 'off') =>
    judgeBatch({ length_control: 'off', shaping }, phase as never, [
      {
        source: sourceOf(task, { rewardModel }),
        task: 0,
        mode: undefined,
        rollouts_G: [liked(1, 1), liked(0, 2), liked(1, 3), liked(1, 6)],
      },
    ])[0]!.rollouts_G;

  it('adds the bonus where the source names a reward model, and says what it added', () => {
    expect(judged(undefined).map(({ reward }) => reward)).toEqual([1, 0, 1, 1]);
    const [first, second] = judged('ckpt');
    expect(first!.penalties['reward_model']).toBeCloseTo(0.283773, 5);
    expect(second!.penalties).toEqual({});
    expect(judged('ckpt')[3]!.advantage).toBeGreaterThan(judged('ckpt')[0]!.advantage!);
  });

  it('shapes what comes of it last: parts still sum to the reward', () => {
    for (const { outcome, reward, penalties } of judged('ckpt', 'tanh')) {
      const given = outcome.status === 'scored' ? outcome.value : NaN;
      expect(Object.values(penalties).reduce((sum, part) => sum + part, given)).toBeCloseTo(reward!, 12);
      expect(Math.abs(reward!)).toBeLessThan(1);
    }
  });
});

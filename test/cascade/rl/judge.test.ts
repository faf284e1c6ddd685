// What a group's rewards do to the loss: truncated and unscored rollouts, and that groups never mix.
import { describe, expect, it } from 'vitest';
import type { Graded } from '../../../runner/cascade/graded.ts';
import { judge as judgePenalised } from '../../../runner/cascade/rl/judge.ts';
import { ascentWeights } from '../../../runner/cascade/objective.ts';
import { applyPenalties } from '../../../runner/cascade/rl/penalties.ts';
import type { PenaltyPolicy } from '../../../runner/cascade/rl/penalties.ts';

const graded = (reward: number | null, { tokens = 4, truncated = false } = {}): Graded => ({
  rollout: {
    prompt: Int32Array.of(1),
    response: new Int32Array(tokens),
    logProbs: new Float32Array(tokens),
    truncated,
    text: '',
  },
  outcome:
    reward === null
      ? { status: 'unscored', code: 'sandbox_down' }
      : { status: 'scored', value: reward, parts: {} },
  reward,
});

const judge = (stage: Pick<PenaltyPolicy, 'overlong' | 'max_response'>, group: readonly Graded[]) =>
  judgePenalised(
    applyPenalties(
      { ...stage, language_mixing: 'off', length_control: 'off', shaping: 'off', preferred: false },
      [''],
      [group],
    )[0]!,
  );
const advantages = (group: ReturnType<typeof judge>) => group.rollouts_G.map(({ advantage }) => advantage);
const weightsOf = (group: ReturnType<typeof judge>) =>
  ascentWeights(
    'token_mean',
    group.rollouts_G.map(({ rollout, advantage }) => ({ ...rollout, advantage })),
  );

describe('judge', () => {
  it('filter: a truncated rollout stays in mean and std and leaves loss and N alike', () => {
    const group = [graded(1), graded(0, { tokens: 100, truncated: true }), graded(0), graded(1)];
    const kept = judge({ overlong: 'keep', max_response: 100 }, group);
    const filtered = judge({ overlong: 'filter', max_response: 100 }, group);
    expect(advantages(filtered)).toEqual(
      advantages(kept).map((advantage, g) => (g === 1 ? null : advantage)),
    );
    // N: 3 x 4 tokens, not 112. The numerator lost the same tokens as the denominator.
    const weights = weightsOf(filtered);
    expect(weights).toHaveLength(3);
    expect(weights[0]!.weights_T[1]).toBeCloseTo(kept.rollouts_G[0]!.advantage! / 12, 6);
    expect(weightsOf(kept)[0]!.weights_T[1]).toBeCloseTo(kept.rollouts_G[0]!.advantage! / 112, 7);
  });

  it('zero: a truncated rollout counts as reward 0, whatever it was worth', () => {
    const group = [graded(1), graded(1, { truncated: true }), graded(0), graded(0)];
    const plain = judge({ overlong: 'keep', max_response: 4 }, [graded(1), graded(0), graded(0), graded(0)]);
    expect(advantages(judge({ overlong: 'zero', max_response: 4 }, group))).toEqual(advantages(plain));
  });

  it('an unscored rollout shifts neither mean nor std of its group', () => {
    const with_ = judge({ overlong: 'zero', max_response: 9 }, [
      graded(1),
      graded(null),
      graded(0),
      graded(1),
    ]);
    const without = judge({ overlong: 'zero', max_response: 9 }, [graded(1), graded(0), graded(1)]);
    expect(advantages(with_).filter((advantage) => advantage !== null)).toEqual(advantages(without));
    expect(advantages(with_)[1]).toBeNull();
    expect(with_.std).toBe(without.std);
  });

  it('a truncated rollout that is also unscored stays out under every policy', () => {
    for (const overlong of ['keep', 'zero', 'filter', 'penalty'] as const) {
      const group = [graded(1), graded(null, { truncated: true }), graded(0)];
      expect(advantages(judge({ overlong, max_response: 4 }, group))[1]).toBeNull();
    }
  });

  it('gives a group the same advantages wherever it stands among others', () => {
    const stage = { overlong: 'keep', max_response: 9 } as const;
    const groups = [
      [graded(1), graded(0), graded(0)],
      [graded(0.2), graded(0.4), graded(0.9)],
      [graded(0), graded(0), graded(0)],
    ];
    const forwards = groups.map((group) => advantages(judge(stage, group)));
    const backwards = [2, 1, 0].map((task) => advantages(judge(stage, groups[task]!))).reverse();
    expect(backwards).toEqual(forwards);
    expect(forwards[2]).toEqual([0, 0, 0]);
    for (const group of forwards)
      expect(Math.abs(group.reduce<number>((sum, a) => sum + a!, 0))).toBeLessThan(1e-9);
  });
});

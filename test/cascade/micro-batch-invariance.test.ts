// One batch, one gradient: GRPO's weights through the real learner, cut into micro-batches of any size, smaller than a
// group included, for every overlong policy. Lengths are unequal, so that a mean over micro-batches would show.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judge } from '../../runner/cascade/rl/judge.ts';
import { sftWeights, ascentWeights } from '../../runner/cascade/objective.ts';
import { applyPenalties } from '../../runner/cascade/rl/penalties.ts';
import { Learner } from '../../runner/engine/learner/learner.ts';
import type { WeightedSequence } from '../../runner/engine/learner/micro-batches.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import { tinyInit } from '../support/tiny-policy.ts';

let runtime: Runtime;
beforeAll(() => void (runtime = createRuntime()));
afterAll(() => runtime[Symbol.dispose]());

/** Two groups of four: prompts of 2 and 5 tokens, responses of 1 to 11, some of them cut off at 11. */
function pairs() {
  const lengths = [
    [3, 11, 1, 6],
    [11, 2, 9, 4],
  ];
  return lengths.map((group, p) =>
    group.map((length, g) => {
      const token = (t: number) => 4 + ((t * 5 + g * 3 + p) % 14);
      return {
        rollout: {
          prompt: Int32Array.from({ length: 2 + 3 * p }, (_, t) => token(t + 7)),
          response: Int32Array.from({ length }, (_, t) => token(t)),
          logProbs: new Float32Array(length),
          truncated: length === 11,
          text: '',
        },
        outcome: { status: 'scored' as const, value: ((g * 3 + p) % 4) / 4, parts: {} },
        reward: ((g * 3 + p) % 4) / 4,
      };
    }),
  );
}

async function gradient(
  sequences: readonly WeightedSequence[],
  tokenBudget: number,
): Promise<Float32Array[]> {
  const model = await loadModel(tinyInit, { datasets: {} }, 3);
  const learner = await Learner.create(runtime, model.config, model.weights, { tokenBudget });
  try {
    await learner.forwardBackward(sequences, { temperature: 0.8 });
    return [...(await learner.namedGradients()).values()].map(({ data }) => data.slice());
  } finally {
    learner[Symbol.dispose]();
  }
}

/** Largest difference, relative to the largest element of the whole gradient. */
function distance(a: readonly Float32Array[], b: readonly Float32Array[]): number {
  const scale = a.reduce((most, data) => data.reduce((m, x) => Math.max(m, Math.abs(x)), most), 0);
  return (
    a.reduce((most, data, i) => data.reduce((m, x, j) => Math.max(m, Math.abs(x - b[i]![j]!)), most), 0) /
    scale
  );
}

const grpo = (overlong: 'keep' | 'zero' | 'filter' | 'penalty') =>
  ascentWeights(
    'token_mean',
    applyPenalties(
      {
        overlong,
        max_response: 11,
        language_mixing: 'off',
        length_control: 'off',
        shaping: 'off',
        preferred: false,
      },
      ['', ''],
      pairs(),
    )
      .flatMap((group) => judge(group).rollouts_G)
      .map(({ rollout, advantage }) => ({ ...rollout, advantage })),
  );

describe('micro-batch invariance', () => {
  it.each([
    [
      'sft',
      () =>
        sftWeights(
          pairs()
            .flat()
            .map(({ rollout }) => rollout),
        ),
    ],
    ['grpo, keep', () => grpo('keep')],
    ['grpo, zero', () => grpo('zero')],
    ['grpo, filter', () => grpo('filter')],
    ['grpo, penalty', () => grpo('penalty')],
  ] as const)('%s: the same gradient to 1e-6 however the batch is cut', async (_, weigh) => {
    const sequences = weigh();
    const whole = await gradient(sequences, 4096);
    expect(whole.some((data) => data.some((x) => x !== 0))).toBe(true);
    for (const budget of [64, 32, 16, 8])
      expect(distance(whole, await gradient(sequences, budget))).toBeLessThan(1e-6);
    expect(distance(whole, await gradient([...sequences].reverse(), 32))).toBeLessThan(1e-6);
  });
});

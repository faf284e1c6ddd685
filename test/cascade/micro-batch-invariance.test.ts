// One batch, one gradient: every objective's weights through the real learner, cut into micro-batches of any size, smaller than a
// group included, in any order. Lengths are unequal, so that a mean over micro-batches would show. With a KL penalty the score
// passes that its weights come from are cut alike.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judge } from '../../runner/cascade/rl/judge.ts';
import type { Loss } from '../../runner/cascade/objective.ts';
import { sftWeights } from '../../runner/cascade/objective.ts';
import { applyPenalties } from '../../runner/cascade/rl/penalties.ts';
import type { PenaltyPolicy } from '../../runner/cascade/rl/penalties.ts';
import { Reference } from '../../runner/cascade/rl/reference.ts';
import { weigh } from '../../runner/cascade/rl/weigh.ts';
import { Learner } from '../../runner/engine/learner/learner.ts';
import type { WeightedSequence } from '../../runner/engine/learner/micro-batches.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import { scored } from '../../runner/rewards/reward.ts';
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
      const worth = ((g * 3 + p) % 4) / 3;
      const token = (t: number) => 4 + ((t * 5 + g * 3 + p) % 14);
      return {
        rollout: {
          prompt: Int32Array.from({ length: 2 + 3 * p }, (_, t) => token(t + 7)),
          response: Int32Array.from({ length }, (_, t) => token(t)),
          logProbs: new Float32Array(length),
          truncated: length === 11,
          text: 'x'.repeat(length),
        },
        outcome: scored(worth, { preference: 3 * g - p }),
        reward: worth,
      };
    }),
  );
}

const model = (seed: number) => loadModel(tinyInit, { datasets: {} }, seed);
const temperature = 0.8;

async function gradient(weights: Weights, tokenBudget: number, turned = false): Promise<Float32Array[]> {
  const { config, weights: initial } = await model(3);
  const learner = await Learner.create(runtime, config, initial, { tokenBudget });
  try {
    const sequences = await weights(learner);
    await learner.forwardBackward(turned ? sequences.toReversed() : sequences, { temperature });
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

/** Those of the batch, which may depend on how the model scores it. */
type Weights = (learner: Learner) => Promise<readonly WeightedSequence[]>;

const sft: Weights = () =>
  Promise.resolve(
    sftWeights(
      pairs()
        .flat()
        .map(({ rollout }) => rollout),
    ),
  );

const plain: PenaltyPolicy = {
  overlong: 'keep',
  max_response: 11,
  language_mixing: 'off',
  length_control: 'off',
  shaping: 'off',
  preferred: false,
};

/** Held, where there is a penalty, to another model of the same shape. */
const grpo =
  (policy: Partial<PenaltyPolicy>, loss: Loss = 'token_mean', kl = 0): Weights =>
  async (learner) => {
    const judged = applyPenalties({ ...plain, ...policy }, ['', ''], pairs()).flatMap(
      (group) => judge(group).rollouts_G,
    );
    const learnt = judged.filter(({ advantage }) => advantage !== null);
    const reference = kl === 0 ? undefined : new Reference(learner);
    try {
      await reference?.open({ reference: (await model(4)).weights });
      const { sequences, metrics } = await weigh(
        { policy: { learner }, stage: { loss, kl }, reference },
        learnt.map(({ rollout, advantage }) => ({ ...rollout, advantage })),
        temperature,
      );
      if (reference !== undefined) expect(metrics['kl']).toBeGreaterThan(1e-3);
      return sequences;
    } finally {
      reference?.close();
    }
  };

describe('micro-batch invariance', () => {
  it.each([
    ['sft', sft],
    ['grpo, keep', grpo({ overlong: 'keep' })],
    ['grpo, zero', grpo({ overlong: 'zero' })],
    ['grpo, filter', grpo({ overlong: 'filter' })],
    ['grpo, penalty', grpo({ overlong: 'penalty' })],
    ['grpo, length control and tanh', grpo({ length_control: 'group_relative', shaping: 'tanh' })],
    ['grpo, a reward model’s bonus', grpo({ preferred: true })],
    ['sequence mean', grpo({}, 'sequence_mean')],
    ['sequence mean, filter', grpo({ overlong: 'filter' }, 'sequence_mean')],
    ['token mean, kl', grpo({}, 'token_mean', 0.5)],
    ['sequence mean, kl', grpo({ overlong: 'filter', shaping: 'tanh' }, 'sequence_mean', 0.5)],
  ] as const)('%s: the same gradient to 1e-6 however the batch is cut', async (_, weights) => {
    const whole = await gradient(weights, 4096);
    expect(whole.some((data) => data.some((x) => x !== 0))).toBe(true);
    for (const budget of [64, 32, 16, 8])
      expect(distance(whole, await gradient(weights, budget))).toBeLessThan(1e-6);
    expect(distance(whole, await gradient(weights, 32, true))).toBeLessThan(1e-6);
  });
});

// Weights that depend on this forward's log-probabilities, asked for between the head's scoring and its backward: the gradient
// is that of two passes, scores first and weights from them, at the price of one.
import { describe, expect, test } from 'vitest';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import type { LearnerOptions } from '../../../runner/engine/learner/learner.ts';
import type { WeightedSequence } from '../../../runner/engine/learner/micro-batches.ts';
import type { Weigh } from '../../../runner/engine/learner/token-scores.ts';
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';
import { linearRoles } from '../../../runner/engine/models/decoder-tensors.ts';
import type { LoraConfig } from '../../../runner/engine/models/lora.ts';
import { livelyAdapters } from '../models/lively-adapters.ts';
import { tinyConfig } from '../models/tiny-config.ts';
import { leakCheckedRuntime, livelyWeights, relativeDistance, sequence } from './support.ts';

const runtime = leakCheckedRuntime();
const temperature = 0.8;

/** Unequal lengths, prompts of two tokens; of the first sequence every token is scored but the first. */
const batch: readonly WeightedSequence[] = Array.from({ length: 9 }, (_, i) => {
  const ids = Array.from({ length: 3 + ((i * 5) % 17) }, (_, t) => (i * 7 + t * t + 1) % 11);
  return sequence(
    ids,
    ids.map(() => 0),
    i === 0 ? 0 : 2,
  );
});

/** Truncated importance weights of an old policy that is made up: of the probability now, not linear in it. */
const weighOf: Weigh = (i, t, logProb) => {
  const advantage = Math.sin(3 * i + t);
  const ratio = Math.exp(logProb + 2 + Math.cos(i * t));
  return ratio > 2 ? 0 : (advantage * ratio) / 40;
};

async function withLearner<T>(
  options: LearnerOptions,
  use: (learner: Learner) => Promise<T>,
  config: DecoderConfig = tinyConfig,
): Promise<T> {
  const learner = await Learner.create(runtime, config, livelyWeights(config, 3), options);
  try {
    return await use(learner);
  } finally {
    learner[Symbol.dispose]();
  }
}

const flatGradient = async (learner: Learner): Promise<number[]> =>
  [...(await learner.namedGradients()).values()].flatMap(({ data }) => [...data]);

const weighed = (sequences: readonly WeightedSequence[] = batch, weigh = weighOf) => {
  return async (learner: Learner) => {
    const scores = await learner.forwardBackward(sequences, { temperature, weigh });
    return { scores, gradient: await flatGradient(learner) };
  };
};

/** Scores first, then the weights that these give. */
async function inTwoPasses(learner: Learner) {
  const { logProbs } = await learner.score(batch, { temperature });
  const sequences = batch.map((one, i) => ({
    ...one,
    weights_T: logProbs[i]!.map((logProb, t) =>
      t < Math.max(1, one.scoredFrom ?? 0) ? 0 : weighOf(i, t, logProb),
    ),
  }));
  const scores = await learner.forwardBackward(sequences, { temperature });
  return { scores, gradient: await flatGradient(learner) };
}

const lora: LoraConfig = { rank: 2, alpha: 3, targets: linearRoles };
const ways: readonly (readonly [string, LearnerOptions, DecoderConfig])[] = [
  ['whole model', {}, tinyConfig],
  ['tied', {}, { ...tinyConfig, tieWordEmbeddings: true }],
  ['recomputed', { activations: 'recomputed' }, tinyConfig],
  ['chunks of 8 queries', { attentionChunk: 8 }, tinyConfig],
  ['LoRA', { tuning: { lora, adapters: livelyAdapters(tinyConfig, lora, 5) } }, tinyConfig],
  ['a scaled loss', { operands: { type: 'float16', emulated: true } }, tinyConfig],
];

describe.each(ways)('%s', (_, options, config) => {
  test('the gradient of two passes', async () => {
    const [one, two] = [
      await withLearner(options, weighed(), config),
      await withLearner(options, inTwoPasses, config),
    ];
    expect(two.gradient.some((x) => x !== 0)).toBe(true);
    expect(relativeDistance(one.gradient, two.gradient)).toBeLessThan(1e-6);
    one.scores.logProbs.forEach((row, i) =>
      expect(relativeDistance(row, two.scores.logProbs[i]!)).toBeLessThan(1e-6),
    );
    expect(one.scores.meanEntropy).toBeCloseTo(two.scores.meanEntropy, 6);
    expect(one.scores.plan).toEqual(two.scores.plan);
  });
});

test.each([8, 16, 32])(
  'a budget of %i tokens, and another order, change nothing but rounding',
  async (tokenBudget) => {
    const whole = await withLearner({}, weighed());
    const cut = await withLearner({ tokenBudget }, weighed());
    expect(relativeDistance(cut.gradient, whole.gradient)).toBeLessThan(1e-6);
    const last = batch.length - 1;
    const turned = await withLearner(
      { tokenBudget },
      weighed(batch.toReversed(), (i, t, logProb) => weighOf(last - i, t, logProb)),
    );
    expect(relativeDistance(turned.gradient, whole.gradient)).toBeLessThan(1e-6);
  },
);

test('many chunks of the head: the gradient of few', async () => {
  const config = { ...tinyConfig, vocabSize: 1 << 17 };
  const long = Array.from({ length: 6 }, (_, i) => {
    const ids = Array.from({ length: 60 }, (_, t) => (i * 7919 + t * t * 104_729) % config.vocabSize);
    return sequence(
      ids,
      ids.map(() => 0),
      1,
    );
  });
  const weigh: Weigh = (i, t, logProb) => (Math.sin(i + t) * Math.exp(logProb / 8)) / 100;
  const whole = await withLearner({}, weighed(long, weigh), config);
  const apart = await withLearner(
    {},
    async (learner) => {
      for (const [at, one] of long.entries())
        await learner.forwardBackward([one], {
          temperature,
          weigh: (_, t, logProb) => weigh(at, t, logProb),
        });
      return await flatGradient(learner);
    },
    config,
  );
  expect(relativeDistance(whole.gradient, apart)).toBeLessThan(1e-6);
});

test('every scored token is asked for once, with what the scores say of it', async () => {
  const asked = batch.map(({ tokens_T }) => new Float32Array(tokens_T.length).fill(NaN));
  await withLearner({ tokenBudget: 16 }, async (learner) => {
    const { logProbs } = await learner.forwardBackward(batch, {
      temperature,
      weigh: (i, t, logProb) => {
        expect(asked[i]![t]).toBeNaN();
        asked[i]![t] = logProb;
        return 0.01;
      },
    });
    batch.forEach(({ scoredFrom = 0 }, i) =>
      asked[i]!.forEach((logProb, t) =>
        expect(logProb).toBe(t < Math.max(1, scoredFrom) ? NaN : logProbs[i]![t]),
      ),
    );
  });
});

test('no weight anywhere: a gradient of exactly zero', async () => {
  const { gradient, scores } = await withLearner(
    {},
    weighed(batch, () => 0),
  );
  expect(gradient.every((x) => x === 0)).toBe(true);
  expect(scores.logProbs[1]!.at(-1)).toBeLessThan(0);
});

test('no weight in one micro-batch of several: the gradient of the others', async () => {
  const some: Weigh = (i, t, logProb) => (i % 3 === 0 ? weighOf(i, t, logProb) : 0);
  const cut = await withLearner({ tokenBudget: 8 }, weighed(batch, some));
  const whole = await withLearner({}, weighed(batch, some));
  expect(relativeDistance(cut.gradient, whole.gradient)).toBeLessThan(1e-6);
});

test('the sequences’ own weights are not looked at, except that prompts must have none', () =>
  withLearner({}, async (learner) => {
    const filled = batch.map((one) => ({
      ...one,
      weights_T: one.weights_T.map((_, t) => (t < Math.max(1, one.scoredFrom ?? 0) ? 0 : 7)),
    }));
    const { gradient } = await weighed(filled)(learner);
    expect(gradient).toEqual((await withLearner({}, weighed())).gradient);
    const prompted = sequence([1, 2, 3], [0, 1, 0], 2);
    await expect(learner.forwardBackward([prompted], { temperature, weigh: weighOf })).rejects.toThrow(
      'sequence 0: token 1 has a weight',
    );
  }));

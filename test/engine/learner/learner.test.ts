import { describe, expect, test } from 'vitest';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import type { WeightedSequence } from '../../../runner/engine/learner/micro-batches.ts';
import { sliceBatch } from '../../../runner/engine/learner/slices.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import type { AdamWOptions } from '../../../runner/engine/optimizer/adamw.ts';
import { tinyConfig } from '../models/tiny-config.ts';
import { leakCheckedRuntime, livelyWeights, relativeDistance, sequence } from './support.ts';

const runtime = leakCheckedRuntime();
const weights = livelyWeights(tinyConfig, 3);
const adamw: AdamWOptions = { lr: 1e-2, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0.1, clipNorm: 1 };
const at1 = { temperature: 1 };

/** 16 sequences of unequal lengths, tokens and weights. */
const batch: readonly WeightedSequence[] = Array.from({ length: 16 }, (_, i) => {
  const length = 3 + ((i * 5) % 17);
  const ids = Array.from({ length }, (_, t) => (i * 7 + t * t + 1) % 11);
  return sequence(
    ids,
    ids.map((_, t) => (t < 2 ? 0 : Math.sin(i + 2 * t) / 100)),
  );
});

async function withLearner<T>(
  use: (learner: Learner) => Promise<T>,
  tokenBudget?: number,
  config = tinyConfig,
): Promise<T> {
  const learner = await Learner.create(
    runtime,
    config,
    livelyWeights(config, 3),
    tokenBudget === undefined ? {} : { tokenBudget },
  );
  try {
    return await use(learner);
  } finally {
    learner[Symbol.dispose]();
  }
}

const flat = (weights: Weights): number[] => [...weights.values()].flatMap(({ data }) => [...data]);
const flatGradient = async (learner: Learner): Promise<number[]> => flat(await learner.namedGradients());
const flatWeights = async (learner: Learner): Promise<number[]> => flat(await learner.namedWeights());

describe('micro-batches change nothing', () => {
  const whole = (): Promise<number[]> =>
    withLearner(async (learner) => (await learner.forwardBackward(batch, at1), await flatGradient(learner)));

  test.each([1, 2, 4, 8])('%i calls of equal shares', async (calls) => {
    const parts = Array.from({ length: calls }, (_, i) =>
      batch.slice((i * 16) / calls, ((i + 1) * 16) / calls),
    );
    const gradient = await withLearner(async (learner) => {
      for (const part of parts) await learner.forwardBackward(part, at1);
      return await flatGradient(learner);
    });
    expect(relativeDistance(gradient, await whole())).toBeLessThan(1e-6);
  });

  test.each([tinyConfig, { ...tinyConfig, tieWordEmbeddings: true }])(
    'a 10/6 split, tied: $tieWordEmbeddings',
    async (config) => {
      const split = await withLearner(
        async (learner) => {
          await learner.forwardBackward(batch.slice(0, 10), at1);
          await learner.forwardBackward(batch.slice(10), at1);
          return await flatGradient(learner);
        },
        undefined,
        config,
      );
      const whole = await withLearner(
        async (learner) => (await learner.forwardBackward(batch, at1), await flatGradient(learner)),
        undefined,
        config,
      );
      expect(relativeDistance(split, whole)).toBeLessThan(1e-6);
    },
  );

  test.each([8, 32, 64])('a budget of %i tokens', async (tokenBudget) => {
    const [gradient, logProbs] = await withLearner(async (learner) => {
      const scores = await learner.forwardBackward(batch, at1);
      return [await flatGradient(learner), scores.logProbs] as const;
    }, tokenBudget);
    expect(relativeDistance(gradient, await whole())).toBeLessThan(1e-6);
    const expected = await withLearner((learner) => learner.score(batch, at1));
    logProbs.forEach((row, i) => expect(relativeDistance(row, expected.logProbs[i]!)).toBeLessThan(1e-6));
  });
});

test('a micro-batch of several slices has the gradient of its sequences apart', async () => {
  const wide = { ...tinyConfig, intermediateSize: 8192 };
  expect(sliceBatch(wide, 8, 64)).toBe(4);
  const long = Array.from({ length: 8 }, (_, i) => {
    const ids = Array.from({ length: 57 + i }, (_, t) => (i + 3 * t * t) % 11);
    return sequence(
      ids,
      ids.map((_, t) => (t === 0 ? 0 : Math.cos(i * t) / 500)),
    );
  });
  const whole = await withLearner(
    async (learner) => (await learner.forwardBackward(long, at1), await flatGradient(learner)),
    undefined,
    wide,
  );
  const apart = await withLearner(
    async (learner) => {
      for (const one of long) await learner.forwardBackward([one], at1);
      return await flatGradient(learner);
    },
    undefined,
    wide,
  );
  expect(relativeDistance(whole, apart)).toBeLessThan(1e-6);
});

describe('slices', () => {
  test.each([
    [1, 5000, 1],
    [8, 256, 4],
    [6, 256, 3],
    [7, 256, 1],
    [64, 8, 64],
  ])('of %i sequences of %i tokens: %i', (batch, length, expected) => {
    expect(sliceBatch({ ...tinyConfig, intermediateSize: 1376, heads: 8 }, batch, length)).toBe(expected);
  });
});

describe('steps', () => {
  test('spend the gradients, and need some', () =>
    withLearner(async (learner) => {
      await expect(learner.step(adamw)).rejects.toThrow(/step without gradients/);
      await learner.forwardBackward(batch, at1);
      const first = await flatGradient(learner);
      await learner.step({ ...adamw, lr: 0 });
      await expect(learner.step(adamw)).rejects.toThrow(/step without gradients/);
      await learner.forwardBackward(batch, at1);
      expect(await flatGradient(learner)).toEqual(first);
    }));

  test('a batch of nothing but zero weights has a zero gradient, and leaves unmoved weights where they are', () =>
    withLearner(async (learner) => {
      const before = await flatWeights(learner);
      const { logProbs } = await learner.forwardBackward([sequence([1, 2, 3], [0, 0, 0])], at1);
      expect(logProbs[0]![2]).toBeLessThan(0);
      expect(await learner.step({ ...adamw, weightDecay: 0 })).toEqual({ gradNorm: 0, updateNorm: 0 });
      expect(await flatWeights(learner)).toEqual(before);
    }));

  test('a gradient that is not finite is reported and changes nothing', () =>
    withLearner(async (learner) => {
      const before = await flatWeights(learner);
      await learner.forwardBackward([sequence([1, 2, 3], [0, 1, Infinity])], at1);
      const { gradNorm } = await learner.step(adamw);
      expect(Number.isFinite(gradNorm)).toBe(false);
      expect(await flatWeights(learner)).toEqual(before);
      expect((await learner.state()).stepCount).toBe(0);
    }));

  test('resumed from a state, training ends with the same bits', async () => {
    const train = async (learner: Learner, steps: number): Promise<void> => {
      for (let step = 0; step < steps; step++) {
        await learner.forwardBackward(batch, at1);
        await learner.step(adamw);
      }
    };
    const whole = await withLearner(async (learner) => (await train(learner, 5), await flatWeights(learner)));
    const resumed = await withLearner(async (learner) => {
      await train(learner, 2);
      const { weights, firstMoment, secondMoment, stepCount } = await learner.state();
      const copy = {
        weights: weights.slice(),
        firstMoment: firstMoment.slice(),
        secondMoment: secondMoment.slice(),
        stepCount,
      };
      return await withLearner(async (other) => {
        await other.restore(copy);
        await train(other, 3);
        return await flatWeights(other);
      });
    });
    expect(resumed).toEqual(whole);
  });

  test('moments reset: the next step is a first step', () =>
    withLearner(async (learner) => {
      await learner.forwardBackward(batch, at1);
      await learner.step(adamw);
      await learner.resetMoments();
      expect((await learner.state()).stepCount).toBe(0);
      const { firstMoment, secondMoment } = await learner.state();
      expect([...firstMoment, ...secondMoment].every((x) => x === 0)).toBe(true);
    }));

  test('a state of another model is refused', () =>
    withLearner(async (learner) => {
      const { weights, firstMoment, stepCount } = await learner.state();
      await expect(
        learner.restore({ weights, firstMoment, secondMoment: new Float32Array(3), stepCount }),
      ).rejects.toThrow(/secondMoment has 3 elements/);
    }));
});

test('entropy is that of the distribution at the temperature', () =>
  withLearner(async (learner) => {
    const { meanEntropy } = await learner.score([sequence([1, 2], [0, 0])], { temperature: 1e6 });
    expect(meanEntropy).toBeCloseTo(Math.log(tinyConfig.vocabSize), 4);
  }));

test('shapes of growing size share the scratch memory', () =>
  withLearner(async (learner) => {
    const small = [sequence([1, 2, 3], [0, 0.5, 0.5])];
    const before = await learner.score(small, at1);
    await learner.score(batch, at1);
    expect(await learner.score(small, at1)).toEqual(before);
  }));

test.each([
  [
    'an id outside the vocabulary',
    sequence([1, 11], [0, 1]),
    /sequence 1, token 1: id 11 is outside the model's vocabulary of 11/,
  ],
  ['a negative id', sequence([-1, 1], [0, 1]), /sequence 1, token 0: id -1/],
  [
    'more tokens than positions',
    sequence(Array<number>(65).fill(1), Array<number>(65).fill(0)),
    /sequence 1: 65 tokens, the model has 64 positions/,
  ],
  ['weights that do not match', sequence([1, 2], [0]), /sequence 1: 2 tokens have 1 weights/],
  ['a weight on the first token', sequence([1, 2], [1, 1]), /sequence 1: token 0 has a weight/],
  [
    'a weight before the scored ones',
    sequence([1, 2, 3], [0, 1, 1], 2),
    /sequence 1: token 1 has a weight, but only tokens from 2 on are scored/,
  ],
])('%s is refused, named', (_, bad, message) =>
  withLearner(async (learner) => {
    await expect(learner.forwardBackward([sequence([1, 2], [0, 1]), bad], at1)).rejects.toThrow(message);
  }),
);

test('weights that do not fit are refused without a leak', async () => {
  const missing = new Map([...weights].slice(1));
  await expect(Learner.create(runtime, tinyConfig, missing)).rejects.toThrow(
    /lack 1 tensors: model\.embed_tokens\.weight/,
  );
});

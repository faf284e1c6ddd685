// What a learner promises wherever it computes: the scores, gradients, steps and states of the CPU, to 1e-3.
import { describe, expect, test } from 'vitest';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import type { LearnerOptions } from '../../../runner/engine/learner/learner.ts';
import { Scorer } from '../../../runner/engine/learner/scorer.ts';
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import type { AdamWOptions } from '../../../runner/engine/optimizer/adamw.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { besideCpu } from '../../support/beside-cpu.ts';
import { livelyWeights, relativeDistance, sequence } from './support.ts';

export const smallConfig: DecoderConfig = {
  family: 'llama',
  vocabSize: 29,
  hiddenSize: 32,
  intermediateSize: 40,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 8,
  maxPositions: 64,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: null,
  qkvBias: false,
  qkNorm: false,
  tieWordEmbeddings: false,
  initializerRange: 0.02,
};

const adamw: AdamWOptions = { lr: 1e-2, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0.1, clipNorm: 1 };
const tolerance = 1e-3;

/** Unequal lengths in three buckets, prompts without weights. */
const batch = [5, 7, 9, 14, 22, 23].map((length, i) => {
  const ids = Array.from({ length }, (_, t) => (i * 7 + t * t + 1) % 29);
  return sequence(
    ids,
    ids.map((_, t) => (t < 2 ? 0 : Math.sin(i + 2 * t) / 50)),
  );
});

interface Trained {
  readonly logProbs: number[];
  readonly entropies: number[];
  readonly norms: number[];
  readonly gradients: ReadonlyMap<string, Float32Array>;
  readonly weights: ReadonlyMap<string, Float32Array>;
  readonly firstMoment: Float32Array;
  readonly secondMoment: Float32Array;
}

const copies = (tensors: Weights): Map<string, Float32Array> =>
  new Map([...tensors].map(([name, { data }]) => [name, data.slice()]));

async function withLearner<T>(
  runtime: Runtime,
  config: DecoderConfig,
  options: LearnerOptions,
  use: (learner: Learner) => Promise<T>,
): Promise<T> {
  const learner = await Learner.create(runtime, config, livelyWeights(config, 3), options);
  try {
    return await use(learner);
  } finally {
    learner[Symbol.dispose]();
  }
}

const inHalves = [batch.slice(0, 3), batch.slice(3)];

/** A step for every list of calls. The gradients are those of the first step: later ones follow the weights' drift. */
const train = (
  runtime: Runtime,
  config: DecoderConfig,
  options: LearnerOptions,
  steps = [inHalves, inHalves, inHalves],
): Promise<Trained> =>
  withLearner(runtime, config, options, async (learner) => {
    const logProbs: number[] = [];
    const entropies: number[] = [];
    const norms: number[] = [];
    let gradients: ReadonlyMap<string, Float32Array> | undefined;
    for (const calls of steps) {
      for (const sequences of calls) {
        const scores = await learner.forwardBackward(sequences, { temperature: 0.8 });
        logProbs.push(...scores.logProbs.flatMap((row) => [...row]));
        entropies.push(scores.meanEntropy);
      }
      gradients ??= copies(await learner.namedGradients());
      const { gradNorm, updateNorm } = await learner.step(adamw);
      norms.push(gradNorm, updateNorm);
    }
    const { firstMoment, secondMoment } = await learner.state();
    return {
      logProbs,
      entropies,
      norms,
      gradients: gradients!,
      weights: copies(await learner.namedWeights()),
      firstMoment: firstMoment.slice(),
      secondMoment: secondMoment.slice(),
    };
  });

/** `make` gives a runtime of the provider under test; the suite ends it. */
export function learnerCases(make: () => Runtime): void {
  const both = besideCpu(make);

  const models: readonly (readonly [string, DecoderConfig, LearnerOptions])[] = [
    ['grouped queries', smallConfig, {}],
    ['tied, norms of heads', { ...smallConfig, qkNorm: true, tieWordEmbeddings: true }, {}],
    [
      'biases, recomputed, a row at a time',
      { ...smallConfig, qkvBias: true },
      { activations: 'recomputed', tokenBudget: 1 },
    ],
  ];
  function expectAlike(found: Trained, expected: Trained): void {
    for (const key of ['logProbs', 'entropies', 'norms', 'firstMoment', 'secondMoment'] as const)
      expect(relativeDistance(found[key], expected[key]), key).toBeLessThan(tolerance);
    for (const key of ['gradients', 'weights'] as const)
      for (const [name, values] of expected[key])
        expect(relativeDistance(found[key].get(name)!, values), `${key} of ${name}`).toBeLessThan(tolerance);
  }

  interface Found {
    readonly values: ArrayLike<number>;
    readonly gradients: ReadonlyMap<string, Float32Array>;
  }

  function expectSame(found: Found, expected: Found): void {
    expect(relativeDistance(found.values, expected.values)).toBeLessThan(tolerance);
    for (const [name, gradient] of expected.gradients)
      expect(relativeDistance(found.gradients.get(name)!, gradient), name).toBeLessThan(tolerance);
  }

  test.each(models)('%s: trains as on the CPU', async (_, config, options) => {
    expectAlike(await train(both.runtime, config, options), await train(both.cpu, config, options));
  });

  test('attention over query chunks of long sequences: trains as on the CPU', async () => {
    const config = { ...smallConfig, qkNorm: true };
    const options = { attentionChunk: 8 };
    // Both are padded to 24 tokens: three chunks.
    const steps = [[batch.slice(4)]];
    expectAlike(
      await train(both.runtime, config, options, steps),
      await train(both.cpu, config, options, steps),
    );
  });

  test('a frozen model scores as on the CPU', async () => {
    const of = async (one: Runtime): Promise<number[]> => {
      const scorer = await Scorer.create(one, smallConfig, livelyWeights(smallConfig, 3));
      try {
        const { logProbs, meanEntropy } = await scorer.score(batch, { temperature: 0.8 });
        return [...logProbs.flatMap((row) => [...row]), meanEntropy];
      } finally {
        scorer[Symbol.dispose]();
      }
    };
    expect(relativeDistance(await of(both.runtime), await of(both.cpu))).toBeLessThan(tolerance);
  });

  test('weights from the log-probabilities of this forward: learns as on the CPU', async () => {
    const weigh = (i: number, t: number, logProb: number): number =>
      (Math.sin(i + t) * Math.exp(logProb / 4)) / 50;
    const of = (one: Runtime) =>
      withLearner(one, smallConfig, {}, async (learner) => {
        const { logProbs } = await learner.forwardBackward(batch, { temperature: 0.8, weigh });
        return {
          values: logProbs.flatMap((row) => [...row]),
          gradients: copies(await learner.namedGradients()),
        };
      });
    expectSame(await of(both.runtime), await of(both.cpu));
  });

  test.each([{ beta: 0 }, { beta: 0.5 }, { beta: 1, topK: 5 }])(
    'whole distributions beside a wider teacher, beta $beta, top $topK: as on the CPU',
    async (form) => {
      const wider = { ...smallConfig, hiddenSize: 40, headSize: 16, qkNorm: true, tieWordEmbeddings: true };
      const shares = batch.map((one) => ({ ...one, weights_T: one.weights_T.map(Math.abs) }));
      const of = async (one: Runtime) => {
        const teacher = await Scorer.create(one, wider, livelyWeights(wider, 8));
        try {
          return await withLearner(one, smallConfig, {}, async (learner) => {
            const found = await learner.diverge(shares, teacher, { temperature: 0.8, ...form });
            const { divergences, teacherLogProbs, logProbs } = found;
            return {
              values: [divergences, teacherLogProbs, logProbs].flat().flatMap((row) => [...row]),
              gradients: copies(await learner.namedGradients()),
            };
          });
        } finally {
          teacher[Symbol.dispose]();
        }
      };
      expectSame(await of(both.runtime), await of(both.cpu));
    },
  );

  test('a scalar head values and learns as on the CPU', async () => {
    const config = { ...smallConfig, scalarHead: true };
    const sequences = batch.map(({ tokens_T }) => tokens_T);
    const of = (one: Runtime): Promise<{ values: Float32Array; gradients: Map<string, Float32Array> }> =>
      withLearner(one, config, {}, async (learner) => {
        const cotangents = (await learner.values(sequences)).map((value, i) => Math.sin(value + i));
        const { values_N: values } = await learner.valuesBackward(sequences, cotangents);
        return { values, gradients: copies(await learner.namedGradients()) };
      });
    expectSame(await of(both.runtime), await of(both.cpu));
  });

  describe('states', () => {
    test('read and restored: training goes on from there', async () => {
      const step = async (learner: Learner): Promise<void> => {
        await learner.forwardBackward(batch.slice(0, 3), { temperature: 1 });
        await learner.step(adamw);
      };
      const flat = async (learner: Learner): Promise<Float32Array> => (await learner.state()).weights.slice();
      const whole = await withLearner(both.runtime, smallConfig, {}, async (learner) => {
        for (let i = 0; i < 3; i++) await step(learner);
        return await flat(learner);
      });
      const resumed = await withLearner(both.runtime, smallConfig, {}, async (learner) => {
        await step(learner);
        const state = await learner.state();
        return await withLearner(both.runtime, smallConfig, {}, async (other) => {
          await other.restore(state);
          for (let i = 0; i < 2; i++) await step(other);
          return await flat(other);
        });
      });
      expect(relativeDistance(resumed, whole)).toBeLessThan(1e-5);
    });

    test('moments reset; a batch without weights has a zero gradient; a norm that is not finite changes nothing', () =>
      withLearner(both.runtime, smallConfig, {}, async (learner) => {
        await learner.forwardBackward(batch.slice(0, 3), { temperature: 1 });
        await learner.step(adamw);
        await learner.resetMoments();
        const { firstMoment, secondMoment, stepCount, weights } = await learner.state();
        const before = weights.slice();
        expect([...firstMoment, ...secondMoment].every((x) => x === 0)).toBe(true);
        expect(stepCount).toBe(0);
        await learner.forwardBackward([sequence([1, 2, 3], [0, 0, 0])], { temperature: 1 });
        expect(await learner.step({ ...adamw, weightDecay: 0 })).toEqual({ gradNorm: 0, updateNorm: 0 });
        await learner.forwardBackward([sequence([1, 2, 3], [0, 1, Infinity])], { temperature: 1 });
        expect(Number.isFinite((await learner.step(adamw)).gradNorm)).toBe(false);
        expect((await learner.state()).weights).toEqual(before);
      }));
  });
}

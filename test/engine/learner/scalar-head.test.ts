// Reward models: values and the gradient of every tensor against the float64 reference, of which a head of one word is a
// scalar head.
import { describe, expect, test } from 'vitest';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import { hfModelConfig, parseModelConfig } from '../../../runner/engine/models/config.ts';
import { scoreName } from '../../../runner/engine/models/decoder-tensors.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import { SlotSampler } from '../../../runner/engine/sampler/slot-sampler.ts';
import { Float64Decoder } from '../models/float64-decoder.ts';
import type { HfConfig } from '../models/float64-decoder.ts';
import { tinyFamilies } from '../models/tiny-families.ts';
import { leakCheckedRuntime, livelyWeights, relativeDistance } from './support.ts';

const runtime = leakCheckedRuntime();
const sequences = [[3, 1, 4, 1, 5, 9, 2, 6, 5], [2, 7, 1], [8], [0, 0, 10, 0, 0]].map((ids) =>
  Int32Array.from(ids),
);
const cotangents = Float32Array.of(0.7, -0.4, 0.2, -0.5);

const rewardConfig = (hf: HfConfig) => ({
  ...hf,
  architectures: [
    { llama: 'Llama', qwen2: 'Qwen2', qwen3: 'Qwen3' }[hf.model_type]! + 'ForSequenceClassification',
  ],
  id2label: { 0: 'LABEL_0' },
});

type Exact = ReadonlyMap<string, { data: ArrayLike<number> }>;

function referenceValues(hf: HfConfig, weights: Exact): number[] {
  const asLanguage = new Map(
    [...weights].map(([name, of]) => [name === scoreName ? 'lm_head.weight' : name, of]),
  );
  const decoder = new Float64Decoder({ ...hf, tie_word_embeddings: false }, asLanguage);
  return sequences.map((ids) => decoder.logits([...ids]).at(-1)![0]!);
}

/** Central differences of the sum of cotangents * values, at up to 8 elements of a tensor. */
function slopes(hf: HfConfig, weights: Weights, name: string): { at: number[]; expected: number[] } {
  const exact = new Map([...weights].map(([key, { data }]) => [key, { data: Float64Array.from(data) }]));
  const { data } = exact.get(name)!;
  const samples = Math.min(8, data.length);
  const at = Array.from({ length: samples }, (_, i) => Math.floor((i * data.length) / samples));
  const loss = (): number =>
    referenceValues(hf, exact).reduce((total, value, i) => total + cotangents[i]! * value, 0);
  const expected = at.map((index) => {
    const value = data[index]!;
    data[index] = value + 1e-5;
    const above = loss();
    data[index] = value - 1e-5;
    const slope = (above - loss()) / 2e-5;
    data[index] = value;
    return slope;
  });
  return { at, expected };
}

describe.each(tinyFamilies)('%s', (_, hf) => {
  const config = parseModelConfig(rewardConfig(hf), 'config.json');
  const weights = livelyWeights(config, 11);

  async function withLearner<T>(use: (learner: Learner) => Promise<T>): Promise<T> {
    const learner = await Learner.create(runtime, config, weights, { tokenBudget: 16 });
    try {
      return await use(learner);
    } finally {
      learner[Symbol.dispose]();
    }
  }

  test('values are those of the last tokens', () =>
    withLearner(async (learner) => {
      expect(config.scalarHead).toBe(true);
      const values = await learner.values(sequences);
      expect(relativeDistance(values, referenceValues(hf, weights))).toBeLessThan(1e-5);
    }));

  test('the gradient of every tensor equals finite differences', () =>
    withLearner(async (learner) => {
      const { values_N: values } = await learner.valuesBackward(sequences, cotangents);
      expect(relativeDistance(values, referenceValues(hf, weights))).toBeLessThan(1e-5);
      for (const [name, { data }] of await learner.namedGradients()) {
        const { at, expected } = slopes(hf, weights, name);
        const found = at.map((index) => data[index]!);
        if (expected.every((slope) => Math.abs(slope) < 1e-9))
          expect(found, name).toEqual(found.map(() => 0));
        else expect(relativeDistance(found, expected), name).toBeLessThan(2e-4);
      }
    }));

  test('its configuration is read back', () => {
    expect(parseModelConfig(hfModelConfig(config, {}), 'config.json')).toEqual(config);
  });
});

const config = parseModelConfig(rewardConfig(tinyFamilies[0]![1]), 'config.json');

test('a pair learns: the preferred answer is valued higher after a few Bradley-Terry steps', async () => {
  const learner = await Learner.create(runtime, config, livelyWeights(config, 2));
  const pair = [Int32Array.of(1, 2, 3, 4), Int32Array.of(1, 2, 4, 3)];
  const adamw = { lr: 5e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0 };
  try {
    const margin = ([chosen, rejected]: Float32Array): number => chosen! - rejected!;
    const before = margin(await learner.values(pair));
    for (let step = 0; step < 8; step++) {
      // loss = -log sigmoid(margin).
      const slope = -1 / (1 + Math.exp(margin(await learner.values(pair))));
      await learner.valuesBackward(pair, Float32Array.of(slope, -slope));
      await learner.step(adamw);
    }
    expect(margin(await learner.values(pair))).toBeGreaterThan(before + 0.5);
  } finally {
    learner[Symbol.dispose]();
  }
});

test('what a scalar head cannot do is refused by name, and what a language head cannot', async () => {
  const reward = await Learner.create(runtime, config, livelyWeights(config, 2));
  const { scalarHead: _, ...language } = config;
  const learner = await Learner.create(runtime, language, livelyWeights(language, 2));
  try {
    const batch = [{ tokens_T: Int32Array.of(1, 2), weights_T: new Float32Array(2) }];
    await expect(reward.score(batch, { temperature: 1 })).rejects.toThrow(
      /has a scalar head: it gives no log-prob/,
    );
    await expect(learner.values([Int32Array.of(1)])).rejects.toThrow(
      /has a language head: it gives no values/,
    );
    await expect(reward.values([new Int32Array(0)])).rejects.toThrow(/sequence 0 has no token/);
    expect(() => new SlotSampler(runtime, { config, weights: reward.weights })).toThrow(
      /nothing to sample from/,
    );
  } finally {
    reward[Symbol.dispose]();
    learner[Symbol.dispose]();
  }
});

test.each([
  ['two labels by default', {}],
  ['three labels', { id2label: { 0: 'a', 1: 'b', 2: 'c' } }],
])('a classifier is refused: %s', (_, fields) => {
  const { id2label: __, ...hf } = rewardConfig(tinyFamilies[0]![1]);
  expect(() => parseModelConfig({ ...hf, ...fields }, 'config.json')).toThrow(/a classifier of [23] labels/);
});

// The gradient of the whole Bradley-Terry loss, pairs in and gradients out: against central differences of the same loss in float64,
// on every family; and however the batch is cut and ordered.
import { describe, expect, test } from 'vitest';
import { addGradient } from '../../../runner/cascade/reward-model/stage.ts';
import type { Pair } from '../../../runner/cascade/reward-model/pairs.ts';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import { parseModelConfig } from '../../../runner/engine/models/config.ts';
import { scoreName } from '../../../runner/engine/models/decoder-tensors.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import { leakCheckedRuntime, livelyWeights } from '../../engine/learner/support.ts';
import { Float64Decoder } from '../../engine/models/float64-decoder.ts';
import type { HfConfig } from '../../engine/models/float64-decoder.ts';
import { tinyFamilies } from '../../engine/models/tiny-families.ts';

const runtime = leakCheckedRuntime();

const pair = (row: number, chosen: readonly number[], rejected: readonly number[]): Pair => ({
  row,
  prompt: '',
  chosen: { tokens_T: Int32Array.from(chosen), length: chosen.length },
  rejected: { tokens_T: Int32Array.from(rejected), length: rejected.length },
});

/** Of 1 to 9 tokens, some with beginnings in common, as answers to one prompt have. */
const pairs = [
  pair(0, [3, 1, 4, 1, 5, 9, 2, 6, 5], [3, 1, 4, 10]),
  pair(1, [2, 7], [2, 7, 1, 8, 2, 8]),
  pair(2, [8], [0, 0, 10, 0, 0]),
];

type Exact = ReadonlyMap<string, { data: ArrayLike<number> }>;

/** - mean log sigmoid(r+ - r-) in float64; a language head of one word is a scalar head. */
function exactLoss(hf: HfConfig, weights: Exact): number {
  const asLanguage = new Map(
    [...weights].map(([name, of]) => [name === scoreName ? 'lm_head.weight' : name, of]),
  );
  const decoder = new Float64Decoder({ ...hf, tie_word_embeddings: false }, asLanguage);
  const valueOf = (tokens_T: Int32Array): number => decoder.logits([...tokens_T]).at(-1)![0]!;
  const losses = pairs.map(({ chosen, rejected }) =>
    Math.log(1 + Math.exp(valueOf(rejected.tokens_T) - valueOf(chosen.tokens_T))),
  );
  return losses.reduce((total, loss) => total + loss, 0) / pairs.length;
}

/** Central differences at up to 6 elements of a tensor. */
function slopes(hf: HfConfig, weights: Weights, name: string): { at: number[]; expected: number[] } {
  const exact = new Map([...weights].map(([key, { data }]) => [key, { data: Float64Array.from(data) }]));
  const { data } = exact.get(name)!;
  const samples = Math.min(6, data.length);
  const at = Array.from({ length: samples }, (_, i) => Math.floor((i * data.length) / samples));
  const expected = at.map((index) => {
    const value = data[index]!;
    data[index] = value + 1e-5;
    const above = exactLoss(hf, exact);
    data[index] = value - 1e-5;
    const slope = (above - exactLoss(hf, exact)) / 2e-5;
    data[index] = value;
    return slope;
  });
  return { at, expected };
}

async function gradientOf(
  config: ReturnType<typeof parseModelConfig>,
  weights: Weights,
  batch: readonly Pair[],
  tokenBudget: number,
) {
  const learner = await Learner.create(runtime, config, weights, { tokenBudget });
  try {
    const { loss } = await addGradient(learner, batch);
    const gradients = [...(await learner.namedGradients())].map(
      ([name, { data }]) => [name, data.slice()] as const,
    );
    return { loss, gradients: new Map(gradients) };
  } finally {
    learner[Symbol.dispose]();
  }
}

const oneOfEach = tinyFamilies.filter(
  ([, { model_type }], at) => tinyFamilies.findIndex(([, other]) => other.model_type === model_type) === at,
);

describe.each(oneOfEach)('%s', (_, hf) => {
  const base = parseModelConfig(hf, 'config.json');
  const config = { ...base, scalarHead: true };
  const weights = livelyWeights(config, 11);

  test('loss and gradient of every tensor equal float64’s', async () => {
    const { loss, gradients } = await gradientOf(config, weights, pairs, 16);
    expect(loss).toBeCloseTo(exactLoss(hf, weights), 5);
    expect([...gradients.keys()].sort()).toEqual([...weights.keys()].sort());
    for (const [name, found] of gradients) {
      const { at, expected } = slopes(hf, weights, name);
      const scale = Math.max(1e-3, ...found.map(Math.abs));
      at.forEach((index, i) =>
        expect(Math.abs(found[index]! - expected[i]!) / scale, `${name}[${index}]`).toBeLessThan(2e-4),
      );
    }
  });

  test('is the same to 1e-6 however the batch is cut and ordered', async () => {
    const whole = await gradientOf(config, weights, pairs, 4096);
    const most = Math.max(...[...whole.gradients.values()].map((data) => Math.max(...data.map(Math.abs))));
    expect(most).toBeGreaterThan(0);
    for (const [batch, tokens] of [
      ...[32, 16, 8].map((budget) => [pairs, budget] as const),
      [[...pairs].reverse(), 16] as const,
    ]) {
      const other = await gradientOf(config, weights, batch, tokens);
      expect(Math.abs(other.loss - whole.loss)).toBeLessThan(1e-6 * whole.loss);
      for (const [name, data] of whole.gradients)
        data.forEach((value, i) =>
          expect(Math.abs(value - other.gradients.get(name)![i]!) / most, name).toBeLessThan(1e-6),
        );
    }
  });
});

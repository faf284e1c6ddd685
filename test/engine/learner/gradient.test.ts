// The whole model's gradient against finite differences of the float64 reference: every tensor, tied and untied,
// grouped queries, unequal lengths, a temperature, unscored prompts.
import { describe, expect, test } from 'vitest';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import type { WeightedSequence } from '../../../runner/engine/learner/micro-batches.ts';
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import { tinyConfig } from '../models/tiny-config.ts';
import { leakCheckedRuntime, livelyWeights, reference, relativeDistance, sequence } from './support.ts';

const runtime = leakCheckedRuntime();
const temperature = 0.7;
const sequences = [
  sequence([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], [0, 0, 0, 0.3, -0.2, 0.5, 0, 0.1, -0.7, 0.2], 3),
  sequence([2, 7, 1, 8], [0, 0.4, -0.1, 0.6]),
  // End and padding id 0 inside a prompt and a response: lengths alone decide.
  sequence([0, 0, 10, 0, 0], [0, 0, 0.25, 0.5, -0.5], 2),
];

function referenceLoss(
  config: DecoderConfig,
  weights: ReadonlyMap<string, { data: Float64Array }>,
  batch: readonly WeightedSequence[],
): number {
  const model = reference(config, weights);
  return -batch.reduce((total, { tokens_T, weights_T }) => {
    const logProbs = model.logProbs([...tokens_T], temperature);
    return total + logProbs.reduce((sum, logProb, t) => sum + weights_T[t]! * logProb, 0);
  }, 0);
}

/** Central differences at up to `samples` elements of one tensor. */
function differences(
  config: DecoderConfig,
  weights: Weights,
  name: string,
  samples: number,
): { at: number[]; slopes: number[] } {
  const exact = new Map([...weights].map(([key, { data }]) => [key, { data: Float64Array.from(data) }]));
  const { data } = exact.get(name)!;
  const at = Array.from({ length: Math.min(samples, data.length) }, (_, i) =>
    Math.floor((i * data.length) / Math.min(samples, data.length)),
  );
  const slopes = at.map((index) => {
    const value = data[index]!;
    const lossAt = (shifted: number): number => {
      data[index] = shifted;
      return referenceLoss(config, exact, sequences);
    };
    const slope = (lossAt(value + 1e-5) - lossAt(value - 1e-5)) / 2e-5;
    data[index] = value;
    return slope;
  });
  return { at, slopes };
}

describe.each([
  ['untied, grouped queries', tinyConfig],
  ['tied, one key head', { ...tinyConfig, tieWordEmbeddings: true, kvHeads: 1, layers: 1 }],
  ['three layers, as many key heads as heads', { ...tinyConfig, kvHeads: 4, layers: 3 }],
])('%s', (_, config) => {
  const weights = livelyWeights(config, 11);

  test('scores equal the reference', async () => {
    const learner = await Learner.create(runtime, config, weights);
    try {
      const { logProbs } = await learner.score(sequences, { temperature });
      sequences.forEach(({ tokens_T, scoredFrom = 0 }, i) => {
        const expected = reference(config, weights).logProbs([...tokens_T], temperature);
        logProbs[i]!.forEach((logProb, t) =>
          expect(logProb).toBeCloseTo(t < Math.max(1, scoredFrom) ? 0 : expected[t]!, 4),
        );
      });
    } finally {
      learner[Symbol.dispose]();
    }
  });

  test('the gradient of every tensor equals finite differences', async () => {
    const learner = await Learner.create(runtime, config, weights);
    try {
      await learner.forwardBackward(sequences, { temperature });
      for (const [name, { data }] of await learner.namedGradients()) {
        const { at, slopes } = differences(config, weights, name, 12);
        const distance = relativeDistance(
          at.map((index) => data[index]!),
          slopes,
        );
        expect(distance, name).toBeLessThan(2e-4);
      }
    } finally {
      learner[Symbol.dispose]();
    }
  });
});

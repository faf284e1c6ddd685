// Kept, recomputed and chunked training compute the same gradient, and each the same bits every time.
import { describe, expect, test } from 'vitest';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import type { LearnerOptions } from '../../../runner/engine/learner/learner.ts';
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';
import { tinyConfig } from '../models/tiny-config.ts';
import { leakCheckedRuntime, livelyWeights, relativeDistance, sequence } from './support.ts';

const runtime = leakCheckedRuntime();

/** Lengths of three buckets, among them rows that only fill. */
const batch = Array.from({ length: 9 }, (_, i) => {
  const ids = Array.from({ length: 20 + ((i * 11) % 44) }, (_, t) => (i * 7 + t * t + 1) % 11);
  return sequence(
    ids,
    ids.map((_, t) => (t < 3 ? 0 : Math.sin(i + 2 * t) / 100)),
    3,
  );
});

async function run(
  options: LearnerOptions,
  config: DecoderConfig = tinyConfig,
): Promise<{ gradients: Map<string, Float32Array>; logProbs: Float32Array; modes: string[] }> {
  const learner = await Learner.create(runtime, config, livelyWeights(config, 3), options);
  try {
    // Twice: gradients accumulate over calls in every mode.
    await learner.forwardBackward(batch, { temperature: 0.8 });
    const { logProbs, plan } = await learner.forwardBackward(batch, { temperature: 0.8 });
    return {
      gradients: new Map(
        [...(await learner.namedGradients())].map(([name, { data }]) => [name, data.slice()]),
      ),
      logProbs: Float32Array.from(logProbs.flatMap((row) => [...row])),
      modes: [...new Set(plan.map(({ activations, attentionChunk }) => `${activations} ${attentionChunk}`))],
    };
  } finally {
    learner[Symbol.dispose]();
  }
}

const modes: readonly (readonly [string, LearnerOptions, readonly string[]])[] = [
  ['recomputed', { activations: 'recomputed' }, ['recomputed null']],
  ['chunks of 8 queries', { attentionChunk: 8 }, ['recomputed 8']],
  ['chunks of 8 queries, a row at a time', { attentionChunk: 8, tokenBudget: 1 }, ['recomputed 8']],
];

describe.each([
  ['grouped queries', tinyConfig],
  ['tied, one key head', { ...tinyConfig, tieWordEmbeddings: true, kvHeads: 1 }],
  ['as many key heads as heads', { ...tinyConfig, kvHeads: 4, layers: 3 }],
  ['biases of queries, keys and values', { ...tinyConfig, qkvBias: true }],
  ['norms of queries and keys, heads wider than the model', { ...tinyConfig, qkNorm: true, headSize: 8 }],
])('%s', (_, config) => {
  test.each(modes)(
    '%s: the gradient of every tensor as with kept activations',
    async (_, options, expected) => {
      const kept = await run({ activations: 'kept' }, config);
      expect(kept.modes).toEqual(['kept null']);
      const other = await run(options, config);
      expect(other.modes).toEqual(expected);
      expect(relativeDistance(other.logProbs, kept.logProbs)).toBeLessThan(1e-5);
      for (const [name, gradient] of kept.gradients)
        expect(relativeDistance(other.gradients.get(name)!, gradient), name).toBeLessThan(1e-5);
    },
  );
});

test.each([['kept', { activations: 'kept' }, ['kept null']] as const, ...modes])(
  '%s: the same bits every time',
  async (_, options) => {
    const [one, two] = [await run(options), await run(options)];
    expect(two).toEqual(one);
  },
);

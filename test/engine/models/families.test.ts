// Each family against an independent implementation in float64: logits, every element of every gradient, and the sampler's
// cached decoding against the learner's log-probabilities.
import { describe, expect, test } from 'vitest';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import { Graph } from '../../../runner/engine/graph/graph.ts';
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';
import { blockScoringGraph } from '../../../runner/engine/models/decoder-block.ts';
import { embeddingGraph, logitsOf } from '../../../runner/engine/models/decoder-ends.ts';
import {
  blockRoles,
  blockTensorName,
  embeddingName,
  finalNormName,
  headName,
} from '../../../runner/engine/models/decoder-tensors.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import { loadParameters } from '../../../runner/engine/learner/parameter-set.ts';
import { drawKey, drawStream } from '../../../runner/engine/random/draws.ts';
import { SlotSampler } from '../../../runner/engine/sampler/slot-sampler.ts';
import { evaluate } from '../graph/compiled-graph.ts';
import { leakCheckedRuntime, livelyWeights, sequence } from '../learner/support.ts';
import { Float64Decoder } from './float64-decoder.ts';
import { largestError } from './largest-error.ts';
import { configOf, tinyFamilies } from './tiny-families.ts';

const runtime = leakCheckedRuntime();
const temperature = 0.8;
const sequences = [
  {
    ids: [3, 1, 4, 1, 5, 9, 2, 6, 5, 18, 17, 3],
    weights: [0, 0, 0.4, 0.3, -0.2, 0.5, 0, 0.1, -0.7, 0.2, 0.6, -0.3],
  },
  { ids: [2, 7, 1, 8], weights: [0, 0.4, -0.1, 0.6] },
  { ids: [0, 0, 10, 0, 16], weights: [0, 0, 0.25, 0.5, -0.5] },
];

/** Logits [S,V] of one sequence by the engine's own graphs, one after the other. */
async function engineLogits(config: DecoderConfig, weights: Weights, ids: number[]): Promise<Float32Array> {
  const of = (name: string): Float32Array => weights.get(name)!.data;
  const feeds = { table: of(embeddingName), tokens: Int32Array.from(ids) };
  let x = (await evaluate(runtime, embeddingGraph(config, ids.length), feeds))['y']!;
  for (let layer = 0; layer < config.layers; layer++) {
    const ofBlock = blockRoles(config).map((role) => [role, of(blockTensorName(layer, role))] as const);
    const graph = blockScoringGraph(config, { batch: 1, length: ids.length });
    x = (await evaluate(runtime, graph, { x, ...Object.fromEntries(ofBlock) }))['y']!;
  }
  const graph = new Graph();
  const { hiddenSize: D, vocabSize: V } = config;
  const input = (name: string, shape: number[]) => graph.input(name, 'float32', shape);
  const logits = logitsOf(input('x', [ids.length, D]), input('norm', [D]), input('head', [V, D]), config);
  graph.output('logits', logits);
  const ends = { norm: of(finalNormName), head: of(headName(config)) };
  return (await evaluate(runtime, graph, { x, ...ends }))['logits'] as Float32Array;
}

async function withLearner<T>(
  config: DecoderConfig,
  weights: Weights,
  use: (learner: Learner) => Promise<T>,
): Promise<T> {
  const learner = await Learner.create(runtime, config, weights);
  try {
    return await use(learner);
  } finally {
    learner[Symbol.dispose]();
  }
}

describe.each(tinyFamilies)('%s', (_, hf) => {
  const config = configOf(hf);
  const weights = livelyWeights(config, 11);

  test('the reference needs every tensor that the engine has, and its gradient is the slope of its loss', () => {
    const reference = new Float64Decoder(hf, weights);
    for (const { ids, weights: w } of sequences) reference.addGradient(ids, w, temperature);
    const exact = new Map([...weights].map(([name, { data }]) => [name, { data: Float64Array.from(data) }]));
    const loss = (): number => {
      const shifted = new Float64Decoder(hf, exact);
      return -sequences
        .flatMap(({ ids, weights: w }) => shifted.logProbs(ids, temperature).map((p, t) => p * w[t]!))
        .reduce((total, x) => total + x, 0);
    };
    for (const [name, { data }] of exact) {
      const at = (name.length * 7) % data.length;
      const value = data[at]!;
      data[at] = value + 1e-5;
      const above = loss();
      data[at] = value - 1e-5;
      const slope = (above - loss()) / 2e-5;
      data[at] = value;
      expect(
        reference.gradients.get(name)!.some((d) => d !== 0),
        name,
      ).toBe(true);
      expect(Math.abs(reference.gradients.get(name)![at]! - slope), name).toBeLessThan(
        1e-7 * (1 + Math.abs(slope)),
      );
    }
  });

  test('logits within 1e-4', async () => {
    for (const { ids } of sequences) {
      const expected = new Float64Decoder(hf, weights).logits(ids).flatMap((row) => [...row]);
      expect(largestError(await engineLogits(config, weights, ids), expected)).toBeLessThan(1e-4);
    }
  });

  test('the gradient of every parameter within 1e-4', async () => {
    const reference = new Float64Decoder(hf, weights);
    for (const { ids, weights: w } of sequences) reference.addGradient(ids, w, temperature);
    await withLearner(config, weights, async (learner) => {
      await learner.forwardBackward(
        sequences.map(({ ids, weights: w }) => sequence(ids, w)),
        { temperature },
      );
      const gradients = await learner.namedGradients();
      expect([...gradients.keys()].sort()).toEqual([...reference.gradients.keys()].sort());
      for (const [name, { data }] of gradients)
        expect(largestError(data, reference.gradients.get(name)!), name).toBeLessThan(1e-4);
    });
  });

  test('the sampler draws from the distribution that the learner scores', async () => {
    const live = await loadParameters(runtime, config, weights);
    const sampler = new SlotSampler(runtime, { config, weights: live });
    const prompts = [[3], [5, 4, 18, 2, 0, 7, 7, 1, 9], [2, 11]].map((ids) => Int32Array.from(ids));
    const requests = prompts.flatMap((prompt, p) =>
      [0, 1].map((g) => ({ prompt, maxTokens: 40, draw: drawStream(drawKey(3, 'test', 1), p, g) })),
    );
    try {
      const completions = await sampler.generate(requests, { temperature, endIds: [] });
      const drawn = completions.map(({ tokens }, i) => {
        const ids = [...requests[i]!.prompt, ...tokens];
        return sequence(
          ids,
          ids.map(() => 0),
          requests[i]!.prompt.length,
        );
      });
      const { logProbs } = await withLearner(config, weights, (learner) =>
        learner.score(drawn, { temperature }),
      );
      completions.forEach((completion, i) => {
        expect(completion.tokens.length).toBe(40);
        const scored = logProbs[i]!.subarray(requests[i]!.prompt.length);
        expect(largestError(completion.logProbs, scored)).toBeLessThan(1e-4);
      });
    } finally {
      sampler[Symbol.dispose]();
      live[Symbol.dispose]();
    }
  });
});

// What the learner's suites share: a runtime that must end without live native objects, and a tiny model with
// weights large enough for every term of its gradient to matter.
import { afterAll, afterEach, expect } from 'vitest';
import { hfModelConfig } from '../../../runner/engine/models/config.ts';
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';
import { initialWeights } from '../../../runner/engine/models/initialize.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import type { WeightedSequence } from '../../../runner/engine/learner/micro-batches.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { Float64Decoder } from '../models/float64-decoder.ts';
import type { HfConfig, Tensors } from '../models/float64-decoder.ts';

/** One runtime for a test file; objects that a test leaves alive fail it. */
export function leakCheckedRuntime(): Runtime {
  const runtime = createRuntime();
  afterEach(() => expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 }));
  afterAll(() => runtime[Symbol.dispose]());
  return runtime;
}

/** Initial weights of a deviation at which attention and gates leave their linear regime, norms that are not 1 and biases that are not 0. */
export function livelyWeights(config: DecoderConfig, seed: number): Weights {
  const weights = initialWeights({ ...config, initializerRange: 0.4 }, seed);
  for (const [name, { data }] of weights) {
    if (name.includes('norm')) data.forEach((_, i) => (data[i] = 1 + 0.3 * Math.sin(i + name.length)));
    if (name.endsWith('.bias')) data.forEach((_, i) => (data[i] = 0.5 * Math.cos(i + name.length)));
  }
  return weights;
}

/** The same model in float64, with nothing of the engine but how it writes its configuration. */
export const reference = (config: DecoderConfig, weights: Tensors): Float64Decoder =>
  new Float64Decoder(hfModelConfig(config, {}) as unknown as HfConfig, weights);

export function sequence(
  ids: readonly number[],
  weights: readonly number[],
  scoredFrom?: number,
): WeightedSequence {
  return {
    tokens_T: Int32Array.from(ids),
    weights_T: Float32Array.from(weights),
    ...(scoredFrom === undefined ? {} : { scoredFrom }),
  };
}

/** || a - b || / || b ||. */
export function relativeDistance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let difference = 0;
  let norm = 0;
  for (let i = 0; i < b.length; i++) {
    difference += (a[i]! - b[i]!) ** 2;
    norm += b[i]! ** 2;
  }
  return Math.sqrt(difference / norm);
}

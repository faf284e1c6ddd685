// A whole training step (forward, backward, clipping, AdamW) of a 20 M model as a share of the product rate:
// (6 * (parameters - embedding) * tokens + 12 * L * B * S^2 * D) / step time / rate.

import { Learner } from '../../runner/engine/learner/learner.ts';
import type { LearnerOptions } from '../../runner/engine/learner/learner.ts';
import type { DecoderConfig } from '../../runner/engine/models/config.ts';
import { initialWeights } from '../../runner/engine/models/initialize.ts';
import { parameterLayout } from '../../runner/engine/models/parameters.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { ProductRate } from './product-rate.ts';
import { median, summary } from './report.ts';
import type { BenchResult } from './report.ts';

export const config: DecoderConfig = {
  family: 'llama',
  vocabSize: 1024,
  hiddenSize: 512,
  intermediateSize: 1376,
  layers: 6,
  heads: 8,
  kvHeads: 8,
  headSize: 64,
  maxPositions: 256,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: null,
  qkvBias: false,
  qkNorm: false,
  tieWordEmbeddings: false,
  initializerRange: 0.02,
};
const B = 8;
const S = 256;
const coldSteps = 3;
const keptSteps = 12;
const recomputedSteps = 8;
const adamw = { lr: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0.1, clipNorm: 1 };

function stepFlops(): number {
  const { vocabSize, hiddenSize: D, layers } = config;
  const counted = parameterLayout(config).parameterCount - vocabSize * D;
  return 6 * counted * B * S + 12 * layers * B * S ** 2 * D;
}

async function timedStep(learner: Learner, step: number): Promise<number> {
  const sequences = Array.from({ length: B }, (_, b) => ({
    tokens_T: Int32Array.from({ length: S }, (_, t) => (b * 131 + t * (7 + step)) % config.vocabSize),
    weights_T: new Float32Array(S).fill(1 / (B * (S - 1)), 1),
  }));
  const started = performance.now();
  await learner.forwardBackward(sequences, { temperature: 1 });
  await learner.step(adamw);
  return (performance.now() - started) / 1000;
}

interface Timing {
  readonly seconds: readonly number[];
  /** FLOP/s of products around the steps. */
  readonly rates: readonly number[];
}

async function timeSteps(
  runtime: Runtime,
  product: ProductRate,
  options: LearnerOptions,
  warmSteps: number,
): Promise<Timing> {
  const learner = await Learner.create(runtime, config, initialWeights(config, 1), options);
  try {
    const seconds: number[] = [];
    const rates: number[] = [];
    for (let step = 0; step < coldSteps + warmSteps; step++) {
      // Products before and after each step: the machine changes from one second to the next.
      const before = median([product.measure(), product.measure()]);
      const time = await timedStep(learner, step);
      if (step < coldSteps) continue;
      seconds.push(time);
      rates.push(before, product.measure(), product.measure());
    }
    return { seconds, rates };
  } finally {
    learner[Symbol.dispose]();
  }
}

/** The arithmetic counted is that of kept activations in both: recomputing is no use, only cost. */
function shares({ seconds, rates }: Timing): number[] {
  const rate = median(rates);
  return seconds.map((time) => stepFlops() / time / rate);
}

export async function measureTraining(runtime: Runtime): Promise<BenchResult[]> {
  const product = await ProductRate.create(runtime);
  try {
    const kept = await timeSteps(runtime, product, { activations: 'kept' }, keptSteps);
    const recomputed = await timeSteps(runtime, product, { activations: 'recomputed' }, recomputedSteps);
    return [
      summary('train_share_of_product', 'ratio', shares(kept), { goal: 0.8, floor: 0.65 }),
      summary('train_share_recomputed', 'ratio', shares(recomputed), { goal: 0.65, floor: 0.55 }),
      summary(
        'train_tokens',
        'tokens/s',
        kept.seconds.map((time) => (B * S) / time),
      ),
      summary('train_step', 's', kept.seconds),
      summary('product_2048', 'FLOP/s', kept.rates),
    ];
  } finally {
    product[Symbol.dispose]();
  }
}

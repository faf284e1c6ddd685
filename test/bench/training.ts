// A whole training step (forward, backward, clipping, AdamW) of a 20 M model as a share of the product rate:
// (6 * (parameters - embedding) * tokens + 12 * L * B * S^2 * D) / step time / rate.

import { Learner } from '../../runner/engine/learner/learner.ts';
import type { LlamaConfig } from '../../runner/engine/models/config.ts';
import { initialWeights } from '../../runner/engine/models/initialize.ts';
import { parameterLayout } from '../../runner/engine/models/parameters.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { ProductRate } from './product-rate.ts';
import { median, summary } from './report.ts';
import type { BenchResult } from './report.ts';

const config: LlamaConfig = {
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
  tieWordEmbeddings: false,
  initializerRange: 0.02,
};
const B = 8;
const S = 256;
const coldSteps = 3;
const warmSteps = 12;
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

export async function measureTraining(runtime: Runtime): Promise<BenchResult[]> {
  const product = await ProductRate.create(runtime);
  const learner = await Learner.create(runtime, config, initialWeights(config, 1));
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
    const rate = median(rates);
    return [
      summary(
        'train_share_of_product',
        'ratio',
        seconds.map((time) => stepFlops() / time / rate),
        { goal: 0.65 },
      ),
      summary(
        'train_tokens',
        'tokens/s',
        seconds.map((time) => (B * S) / time),
      ),
      summary('train_step', 's', seconds),
      summary('product_2048', 'FLOP/s', rates),
    ];
  } finally {
    learner[Symbol.dispose]();
    product[Symbol.dispose]();
  }
}

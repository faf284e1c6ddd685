// A whole training step (forward, backward, clipping, AdamW) as a share of the product rate:
// (6 * (parameters - embedding) * tokens + 12 * L * B * S^2 * D) / step time / rate.

import { Learner } from '../../runner/engine/learner/learner.ts';
import type { LearnerOptions } from '../../runner/engine/learner/learner.ts';
import type { DecoderConfig } from '../../runner/engine/models/config.ts';
import { initialWeights } from '../../runner/engine/models/initialize.ts';
import { parameterLayout } from '../../runner/engine/models/parameters.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { llama800k, llama20m, llama100m } from './models.ts';
import { ProductRate } from './product-rate.ts';
import { median, summary } from './report.ts';
import type { BenchResult } from './report.ts';

interface Run {
  readonly config: DecoderConfig;
  /** Sequences and their length. */
  readonly B: number;
  readonly S: number;
  readonly activations: NonNullable<LearnerOptions['activations']>;
  readonly warmSteps: number;
}

const coldSteps = 3;
const adamw = { lr: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0.1, clipNorm: 1 };

const of20: Omit<Run, 'activations' | 'warmSteps'> = { config: llama20m, B: 8, S: 256 };
const kept: Run = { ...of20, activations: 'kept', warmSteps: 12 };
const recomputed: Run = { ...of20, activations: 'recomputed', warmSteps: 8 };
const small: Run = { config: llama800k, B: 64, S: 64, activations: 'kept', warmSteps: 12 };
const large: Run = { config: llama100m, B: 8, S: 256, activations: 'kept', warmSteps: 4 };

function stepFlops({ config, B, S }: Run): number {
  const { vocabSize, hiddenSize: D, layers } = config;
  const counted = parameterLayout(config).parameterCount - vocabSize * D;
  return 6 * counted * B * S + 12 * layers * B * S ** 2 * D;
}

async function timedStep(learner: Learner, { config, B, S }: Run, step: number): Promise<number> {
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

async function timeSteps(runtime: Runtime, product: ProductRate, run: Run): Promise<Timing> {
  const { config, activations } = run;
  const learner = await Learner.create(runtime, config, initialWeights(config, 1), { activations });
  try {
    const seconds: number[] = [];
    const rates: number[] = [];
    for (let step = 0; step < coldSteps + run.warmSteps; step++) {
      // Products before and after each step: the machine changes from one second to the next.
      const before = median([product.measure(), product.measure()]);
      const time = await timedStep(learner, run, step);
      if (step < coldSteps) continue;
      seconds.push(time);
      rates.push(before, product.measure(), product.measure());
    }
    return { seconds, rates };
  } finally {
    learner[Symbol.dispose]();
  }
}

/** The arithmetic counted is that of kept activations always: recomputing is no use, only cost. */
function shares(run: Run, { seconds, rates }: Timing): number[] {
  const rate = median(rates);
  return seconds.map((time) => stepFlops(run) / time / rate);
}

export async function measureTraining(runtime: Runtime): Promise<BenchResult[]> {
  const product = await ProductRate.create(runtime);
  try {
    const timing = await timeSteps(runtime, product, kept);
    const again = await timeSteps(runtime, product, recomputed);
    const ofSmall = await timeSteps(runtime, product, small);
    const ofLarge = await timeSteps(runtime, product, large);
    return [
      summary('train_share_of_product', 'ratio', shares(kept, timing), { goal: 0.8, floor: 0.65 }),
      summary('train_share_recomputed', 'ratio', shares(recomputed, again), { goal: 0.65, floor: 0.55 }),
      summary('train_share_0.8m', 'ratio', shares(small, ofSmall)),
      summary('train_share_100m', 'ratio', shares(large, ofLarge)),
      summary(
        'train_tokens',
        'tokens/s',
        timing.seconds.map((time) => (kept.B * kept.S) / time),
      ),
      summary('train_step', 's', timing.seconds),
      summary('product_2048', 'FLOP/s', timing.rates),
    ];
  } finally {
    product[Symbol.dispose]();
  }
}

// A whole training step (forward, backward, clipping, AdamW) as a share of the product rate:
// (6 * (parameters - embedding) * tokens + 12 * L * B * S^2 * D) / step time / rate.

import { Learner } from '../../runner/engine/learner/learner.ts';
import type { LearnerOptions } from '../../runner/engine/learner/learner.ts';
import type { DecoderConfig } from '../../runner/engine/models/config.ts';
import { initialWeights } from '../../runner/engine/models/initialize.ts';
import { parameterLayout } from '../../runner/engine/models/parameters.ts';
import { OrtError } from '../../runner/engine/ort/ort-error.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { Fence } from './fence.ts';
import { llama400k, llama800k, llama20m, llama100m } from './models.ts';
import { ProductRate } from './product-rate.ts';
import { median, summary } from './report.ts';
import type { BenchResult } from './report.ts';

interface Run {
  readonly config: DecoderConfig;
  /** Sequences and their length. */
  readonly B: number;
  readonly S: number;
  readonly activations: NonNullable<LearnerOptions['activations']>;
  /** Steps before those that count: they compile. By default 3. */
  readonly coldSteps?: number;
  readonly warmSteps: number;
  readonly operands?: LearnerOptions['operands'];
}

const adamw = { lr: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0.1, clipNorm: 1 };

const of20: Omit<Run, 'activations' | 'warmSteps'> = { config: llama20m, B: 8, S: 256 };
const kept: Run = { ...of20, activations: 'kept', warmSteps: 12 };
const recomputed: Run = { ...of20, activations: 'recomputed', warmSteps: 8 };
const ofSmall: Run = { config: llama800k, B: 64, S: 64, activations: 'kept', warmSteps: 12 };
const ofTiny: Run = { config: llama400k, B: 2, S: 32, activations: 'kept', coldSteps: 1, warmSteps: 2 };
const large: Run = { config: llama100m, B: 8, S: 256, activations: 'kept', warmSteps: 4 };

function stepFlops({ config, B, S }: Run): number {
  const { vocabSize, hiddenSize: D, layers } = config;
  const counted = parameterLayout(config).parameterCount - vocabSize * D;
  return 6 * counted * B * S + 12 * layers * B * S ** 2 * D;
}

async function timedStep(
  learner: Learner,
  fence: Fence,
  { config, B, S }: Run,
  step: number,
): Promise<number> {
  const sequences = Array.from({ length: B }, (_, b) => ({
    tokens_T: Int32Array.from({ length: S }, (_, t) => (b * 131 + t * (7 + step)) % config.vocabSize),
    weights_T: new Float32Array(S).fill(1 / (B * (S - 1)), 1),
  }));
  const started = performance.now();
  await learner.forwardBackward(sequences, { temperature: 1 });
  await learner.step(adamw);
  await fence.reached();
  return (performance.now() - started) / 1000;
}

interface Timing {
  readonly seconds: readonly number[];
  /** FLOP/s of products around the steps. */
  readonly rates: readonly number[];
}

async function timeSteps(runtime: Runtime, product: ProductRate, run: Run): Promise<Timing> {
  const { config, activations, operands, coldSteps = 3 } = run;
  const options = { activations, operands };
  const learner = await Learner.create(runtime, config, initialWeights(config, 1), options);
  const fence = new Fence(runtime);
  try {
    const seconds: number[] = [];
    const rates: number[] = [];
    for (let step = 0; step < coldSteps + run.warmSteps; step++) {
      // Products before and after each step: the machine changes from one second to the next.
      const before = median([await product.measure(), await product.measure()]);
      const time = await timedStep(learner, fence, run, step);
      if (step < coldSteps) continue;
      seconds.push(time);
      rates.push(before, await product.measure(), await product.measure());
    }
    return { seconds, rates };
  } finally {
    fence[Symbol.dispose]();
    learner[Symbol.dispose]();
  }
}

/** The arithmetic counted is that of kept activations always: recomputing is no use, only cost. */
function shares(run: Run, { seconds, rates }: Timing): number[] {
  const rate = median(rates);
  return seconds.map((time) => stepFlops(run) / time / rate);
}

/** float16 operands, where the device multiplies them; nothing, and the reason on standard error, where it does not. */
async function measureHalf(runtime: Runtime, product: ProductRate, run: Run): Promise<BenchResult[]> {
  const half: Run = { ...run, operands: { type: 'float16', emulated: false } };
  if (runtime.provider === 'cpu') return [];
  try {
    return [summary('train_share_float16', 'ratio', shares(half, await timeSteps(runtime, product, half)))];
  } catch (error) {
    if (!(error instanceof OrtError)) throw error;
    console.error(`train_share_float16 left out: ${error.message}`);
    return [];
  }
}

/** `small`: the first results alone, of a model of 0.4 million parameters. */
export async function measureTraining(runtime: Runtime, small = false): Promise<BenchResult[]> {
  const product = await ProductRate.create(runtime, small);
  const first = small ? ofTiny : kept;
  const second: Run = small ? { ...ofTiny, activations: 'recomputed' } : recomputed;
  try {
    const timing = await timeSteps(runtime, product, first);
    const again = await timeSteps(runtime, product, second);
    const others = small
      ? []
      : [
          summary('train_share_0.8m', 'ratio', shares(ofSmall, await timeSteps(runtime, product, ofSmall))),
          summary('train_share_100m', 'ratio', shares(large, await timeSteps(runtime, product, large))),
        ];
    const halves = await measureHalf(runtime, product, first);
    return [
      summary('train_share_of_product', 'ratio', shares(first, timing), { goal: 0.8, floor: 0.65 }),
      summary('train_share_recomputed', 'ratio', shares(second, again), { goal: 0.65, floor: 0.55 }),
      ...others,
      ...halves,
      summary(
        'train_tokens',
        'tokens/s',
        timing.seconds.map((time) => (first.B * first.S) / time),
      ),
      summary('train_step', 's', timing.seconds),
      summary('product_2048', 'FLOP/s', timing.rates),
    ];
  } finally {
    product[Symbol.dispose]();
  }
}

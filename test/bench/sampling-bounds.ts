// Sampling a model of 20 M parameters against what the machine could do at best, with copies and products measured in turns:
// a decode step of n rows takes at least max(bytes of weights and caches / copy rate, 2 * parameters * n / product rate),
// prefill of S tokens at least (2 * parameters of blocks * S + 4 * L * S^2 * D) / product rate.

import { loadParameters } from '../../runner/engine/learner/parameter-set.ts';
import type { DecoderConfig } from '../../runner/engine/models/config.ts';
import { initialWeights } from '../../runner/engine/models/initialize.ts';
import { parameterLayout } from '../../runner/engine/models/parameters.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import { SamplingPrograms } from '../../runner/engine/sampler/programs.ts';
import { samplerWeights } from '../../runner/engine/sampler/sampled-model.ts';
import { CopyRate } from './copy-rate.ts';
import { decodeStep, firstPosition } from './decode-step.ts';
import { Fence } from './fence.ts';
import { llama400k, llama20m } from './models.ts';
import { ProductRate } from './product-rate.ts';
import { median, summary } from './report.ts';
import type { BenchResult } from './report.ts';

const capacity = 256;
const prompt = 256;
const bytesOf = Float32Array.BYTES_PER_ELEMENT;
const full = { config: llama20m, batches: [1, 8, 64, 256], steps: { few: 64, many: 16 }, rounds: 7 };
const reduced: typeof full = { config: llama400k, batches: [1, 8], steps: { few: 8, many: 8 }, rounds: 2 };
type Plan = typeof full;
/** Those that every token is multiplied with: the embedding is looked up. */
const multipliedOf = (config: DecoderConfig): number =>
  parameterLayout(config).parameterCount - config.vocabSize * config.hiddenSize;

interface Bench {
  readonly plan: Plan;
  readonly fence: Fence;
  readonly copy: CopyRate;
  readonly product: ProductRate;
}

async function decodeBound(
  rows: number,
  steps: number,
  { copy, product, plan: { config } }: Bench,
): Promise<number> {
  const multiplied = multipliedOf(config);
  const { layers, kvHeads, headSize } = config;
  const cached = 2 * layers * kvHeads * headSize * (firstPosition + steps / 2) * rows;
  return Math.max(
    (bytesOf * (multiplied + cached)) / (await copy.measure()),
    (2 * multiplied * rows) / (await product.measure()),
  );
}

async function measureDecode(programs: SamplingPrograms, rows: number, bench: Bench): Promise<BenchResult[]> {
  const { plan, fence } = bench;
  const steps = rows >= 64 ? plan.steps.many : plan.steps.few;
  const times: number[] = [];
  const shares: number[] = [];
  for (let round = 0; round <= plan.rounds; round += 1) {
    const before = await decodeBound(rows, steps, bench);
    const time = await decodeStep(programs, rows, steps, fence);
    if (round === 0) continue;
    times.push(time);
    shares.push(median([before, await decodeBound(rows, steps, bench)]) / time);
  }
  return [
    summary(
      `decode_tokens_${rows}`,
      'tokens/s',
      times.map((time) => rows / time),
    ),
    summary(`decode_bound_share_${rows}`, 'ratio', shares, rows === 64 ? { goal: 0.6 } : {}),
  ];
}

async function measurePrefill(
  programs: SamplingPrograms,
  { product, plan, fence }: Bench,
): Promise<BenchResult[]> {
  const { config } = plan;
  const { layers, hiddenSize: D, vocabSize } = config;
  const flops = 2 * (multipliedOf(config) - vocabSize * D) * prompt + 4 * layers * prompt ** 2 * D;
  const program = await programs.prefill(prompt);
  program.tokens.forEach((_, i) => (program.tokens[i] = (i * 7) % vocabSize));
  program.positions.forEach((_, i) => (program.positions[i] = BigInt(i)));
  program.lastPositions[0] = prompt - 1;
  program.longest[0] = prompt;
  const shares: number[] = [];
  for (let round = 0; round <= 2 * plan.rounds; round += 1) {
    const rate = await product.measure();
    const started = performance.now();
    await program.binding.run();
    await fence.reached();
    const seconds = (performance.now() - started) / 1000;
    if (round > 0) shares.push(flops / seconds / median([rate, await product.measure()]));
  }
  return [summary('prefill_share_of_product', 'ratio', shares)];
}

export async function measureSamplingBounds(runtime: Runtime, small = false): Promise<BenchResult[]> {
  const plan = small ? reduced : full;
  const { config } = plan;
  const scope = new Scope();
  try {
    const weights = scope.own(await loadParameters(runtime, config, initialWeights(config, 1)));
    const bench: Bench = {
      plan,
      fence: scope.own(new Fence(runtime)),
      copy: scope.own(await CopyRate.create(runtime, small)),
      product: scope.own(await ProductRate.create(runtime, small)),
    };
    const programs = scope.own(
      await SamplingPrograms.create(
        runtime,
        config,
        samplerWeights({ config, weights }),
        Math.max(...plan.batches),
        capacity,
      ),
    );
    const results: BenchResult[] = [];
    for (const rows of plan.batches) results.push(...(await measureDecode(programs, rows, bench)));
    return [...results, ...(await measurePrefill(programs, bench))];
  } finally {
    scope[Symbol.dispose]();
  }
}

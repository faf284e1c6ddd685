// Sampling a model of 20 M parameters against what the machine could do at best, with copies and products measured in turns:
// a decode step of n rows takes at least max(bytes of weights and caches / copy rate, 2 * parameters * n / product rate),
// prefill of S tokens at least (2 * parameters of blocks * S + 4 * L * S^2 * D) / product rate.

import { loadParameters } from '../../runner/engine/learner/parameter-set.ts';
import { initialWeights } from '../../runner/engine/models/initialize.ts';
import { parameterLayout } from '../../runner/engine/models/parameters.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import { SamplingPrograms } from '../../runner/engine/sampler/programs.ts';
import { samplerWeights } from '../../runner/engine/sampler/sampled-model.ts';
import { CopyRate } from './copy-rate.ts';
import { llama20m as config } from './models.ts';
import { ProductRate } from './product-rate.ts';
import { median, summary } from './report.ts';
import type { BenchResult } from './report.ts';

const layout = parameterLayout(config);
const capacity = 256;
const firstPosition = 100;
const rounds = 7;
const prompt = 256;
const bytesOf = Float32Array.BYTES_PER_ELEMENT;
/** Those that every token is multiplied with: the embedding is looked up. */
const multiplied = layout.parameterCount - config.vocabSize * config.hiddenSize;

interface Rates {
  readonly copy: CopyRate;
  readonly product: ProductRate;
}

/** Seconds of a step over `rows` rows that hold `firstPosition` tokens and more. */
async function decodeStep(programs: SamplingPrograms, rows: number, steps: number): Promise<number> {
  const program = await programs.decode(rows, { draw: 'plain', biased: false });
  const started = performance.now();
  for (let position = firstPosition; position < firstPosition + steps; position += 1) {
    program.tokens.set(program.nextTokens);
    program.positions.fill(BigInt(position));
    program.lastPositions.fill(position);
    program.longest[0] = position + 1;
    program.uniform.fill(((position * 37) % 100) / 100 + 0.005);
    await program.binding.run();
  }
  return (performance.now() - started) / 1000 / steps;
}

function decodeBound(rows: number, steps: number, { copy, product }: Rates): number {
  const { layers, kvHeads, headSize } = config;
  const cached = 2 * layers * kvHeads * headSize * (firstPosition + steps / 2) * rows;
  return Math.max(
    (bytesOf * (multiplied + cached)) / copy.measure(),
    (2 * multiplied * rows) / product.measure(),
  );
}

async function measureDecode(programs: SamplingPrograms, rows: number, rates: Rates): Promise<BenchResult[]> {
  const steps = rows >= 64 ? 16 : 64;
  const times: number[] = [];
  const shares: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const before = decodeBound(rows, steps, rates);
    const time = await decodeStep(programs, rows, steps);
    if (round === 0) continue;
    times.push(time);
    shares.push(median([before, decodeBound(rows, steps, rates)]) / time);
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

async function measurePrefill(programs: SamplingPrograms, { product }: Rates): Promise<BenchResult[]> {
  const { layers, hiddenSize: D, vocabSize } = config;
  const flops = 2 * (multiplied - vocabSize * D) * prompt + 4 * layers * prompt ** 2 * D;
  const program = await programs.prefill(prompt);
  program.tokens.forEach((_, i) => (program.tokens[i] = (i * 7) % vocabSize));
  program.positions.forEach((_, i) => (program.positions[i] = BigInt(i)));
  program.lastPositions[0] = prompt - 1;
  program.longest[0] = prompt;
  const shares: number[] = [];
  for (let round = 0; round <= 2 * rounds; round += 1) {
    const rate = product.measure();
    const started = performance.now();
    await program.binding.run();
    const seconds = (performance.now() - started) / 1000;
    if (round > 0) shares.push(flops / seconds / median([rate, product.measure()]));
  }
  return [summary('prefill_share_of_product', 'ratio', shares)];
}

export async function measureSamplingBounds(runtime: Runtime): Promise<BenchResult[]> {
  const scope = new Scope();
  try {
    const weights = scope.own(await loadParameters(runtime, config, initialWeights(config, 1)));
    const rates = {
      copy: scope.own(await CopyRate.create(runtime)),
      product: scope.own(await ProductRate.create(runtime)),
    };
    const programs = scope.own(
      await SamplingPrograms.create(runtime, config, samplerWeights({ config, weights }), 256, capacity),
    );
    const results: BenchResult[] = [];
    for (const rows of [1, 8, 64, 256]) results.push(...(await measureDecode(programs, rows, rates)));
    return [...results, ...(await measurePrefill(programs, rates))];
  } finally {
    scope[Symbol.dispose]();
  }
}

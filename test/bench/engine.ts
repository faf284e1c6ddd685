// The engine against the machine it runs on: everything is given beside a rate taken in the same run, interleaved,
// since a shared machine's speed swings by a factor of three within minutes. On a device what is about the host alone
// (the long sequence's memory, padding) is left out.

import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Provider } from '../../runner/engine/ort/runtime.ts';
import { measureDecoding } from './decoding.ts';
import { measureLongSequence } from './long-sequence.ts';
import { llama20m } from './models.ts';
import { measurePadding } from './padding.ts';
import type { BenchResult } from './report.ts';
import { measureSamplerGap } from './sampler-gap.ts';
import { measureSamplingBounds } from './sampling-bounds.ts';
import { measureTraining } from './training.ts';

export interface EngineBenchOptions {
  readonly threads: number;
  readonly provider: Provider;
  /** Models and counts that a slow device bears. */
  readonly small: boolean;
}

/** Throws ProviderUnavailable where the machine has no such provider. */
export async function engineBench({ threads, provider, small }: EngineBenchOptions): Promise<BenchResult[]> {
  const runtime = createRuntime({ threads, provider });
  try {
    return [
      ...(await measureTraining(runtime, small)),
      ...(provider === 'cpu' ? [...measureLongSequence(), ...measurePadding(llama20m)] : []),
      ...(await measureDecoding(runtime, small)),
      ...(await measureSamplingBounds(runtime, small)),
      ...(await measureSamplerGap(runtime, small)),
    ];
  } finally {
    runtime[Symbol.dispose]();
  }
}

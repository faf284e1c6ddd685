// The engine against the machine it runs on: everything is given beside a rate taken in the same run, interleaved,
// since a shared machine's speed swings by a factor of three within minutes.

import { createRuntime } from '../../runner/engine/ort/create.ts';
import { measureDecoding } from './decoding.ts';
import { measureLongSequence } from './long-sequence.ts';
import { llama20m } from './models.ts';
import { measurePadding } from './padding.ts';
import type { BenchResult } from './report.ts';
import { measureSamplerGap } from './sampler-gap.ts';
import { measureSamplingBounds } from './sampling-bounds.ts';
import { measureTraining } from './training.ts';

export async function engineBench(threads: number): Promise<BenchResult[]> {
  const runtime = createRuntime({ threads });
  try {
    return [
      ...(await measureTraining(runtime)),
      ...measureLongSequence(),
      ...measurePadding(llama20m),
      ...(await measureDecoding(runtime)),
      ...(await measureSamplingBounds(runtime)),
      ...(await measureSamplerGap(runtime)),
    ];
  } finally {
    runtime[Symbol.dispose]();
  }
}

// Training on one sequence of 16,384 tokens, in a process of its own so that its high-water mark is its alone.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { summary } from './report.ts';
import type { BenchResult } from './report.ts';
import type { TrainPeak } from './train-peak.ts';

const length = 16_384;
const layers = 2;
const bytesPerParameter = 16;
const script = fileURLToPath(new URL('./train-peak.ts', import.meta.url));

/** Nothing where the system does not tell a process's high-water mark. */
export function measureLongSequence(): BenchResult[] {
  if (process.platform !== 'linux') return [];
  const output = execFileSync(process.execPath, [script, String(length), String(layers)], {
    encoding: 'utf8',
  });
  const { seconds, peakKilobytes, parameters, plan } = JSON.parse(output) as TrainPeak;
  const peak = peakKilobytes * 1024;
  return [
    summary('train_16k_peak_mb', 'MB', [peak / 1e6]),
    summary('train_16k_peak_ratio', 'ratio', [peak / (bytesPerParameter * parameters + plan.bytes)], {
      goal: 1.3,
    }),
    summary('train_16k_step', 's', [seconds]),
  ];
}

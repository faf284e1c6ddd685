// Long sequences train in bounded memory: measured in processes of their own, by the high-water mark.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { TrainPeak } from '../../bench/train-peak.ts';

const script = new URL('../../bench/train-peak.ts', import.meta.url).pathname;

async function peakOf(length: number, layers: number): Promise<TrainPeak> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(length), String(layers)]);
  return JSON.parse(stdout) as TrainPeak;
}

const width = 128;
const parameterBytes = 16;

it.runIf(process.platform === 'linux')(
  '4,096 tokens: within 1.3 x the plan, and deeper models cost block inputs and parameters only',
  async () => {
    const [shallow, deep] = [await peakOf(4096, 2), await peakOf(4096, 8)];
    for (const { peakKilobytes, parameters, plan } of [shallow, deep]) {
      expect(plan).toMatchObject({ length: 4096, activations: 'recomputed' });
      expect(peakKilobytes * 1024).toBeLessThan(1.3 * (parameterBytes * parameters + plan.bytes));
      // All scores of one layer alone would be 4 heads x 64 MB.
      expect(peakKilobytes / 1024).toBeLessThan(256);
    }
    const blockInputs = 6 * 4096 * width * 4;
    const parameters = parameterBytes * (deep.parameters - shallow.parameters);
    const grown = (deep.peakKilobytes - shallow.peakKilobytes) * 1024;
    expect(grown).toBeLessThan(1.5 * (blockInputs + parameters));
  },
  60_000,
);

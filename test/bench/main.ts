// npm run bench -- NAME [--json] [--threads N] [--provider cpu|webgpu|cuda] [--small]: runs one bench, prints its results for
// people, or one JSON line. Measures only; nothing here passes or fails by itself.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { vulkanDevices } from '../../infra/gpu-bundle/vulkan-devices.ts';
import type { Provider } from '../../runner/engine/ort/runtime.ts';
import { cascadeBench } from './cascade.ts';
import { distillBench } from './distill.ts';
import { engineBench, type EngineBenchOptions } from './engine.ts';
import { queueBench } from './queue.ts';
import { rewardsBench } from './rewards.ts';
import { formatResults } from './report.ts';
import type { BenchReport, BenchResult } from './report.ts';

const benches: Readonly<Record<string, (options: EngineBenchOptions) => Promise<BenchResult[]>>> = {
  engine: engineBench,
  rewards: rewardsBench,
  cascade: cascadeBench,
  distill: distillBench,
  queue: queueBench,
};
const providers: readonly Provider[] = ['cpu', 'webgpu', 'cuda'];

const root = resolve(import.meta.dirname, '../..');

/** A tree without git (the GPU bundle's) says in a file which commit it is. */
function commit(): string {
  try {
    return readFileSync(resolve(root, 'COMMIT'), 'utf8').trim();
  } catch {
    try {
      return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
    } catch {
      return 'unknown';
    }
  }
}

/** WebGPU computes on the fastest of the Vulkan devices; that is the first. */
function deviceName(provider: Provider): string {
  return (provider === 'webgpu' ? vulkanDevices()[0]?.name : undefined) ?? 'unknown';
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    threads: { type: 'string' },
    provider: { type: 'string', default: 'cpu' },
    small: { type: 'boolean', default: false },
  },
});
const [name = ''] = positionals;
const bench = benches[name];
const provider = providers.find((one) => one === values.provider);
if (bench === undefined || provider === undefined) {
  console.error(
    `unknown ${bench === undefined ? `bench "${name}"` : `provider "${values.provider}"`}: one of ${Object.keys(benches).join(', ')}` +
      ` [--json] [--threads N] [--provider ${providers.join('|')}] [--small]`,
  );
  process.exit(2);
}
const { small } = values;
const threads = Number(values.threads ?? availableParallelism());
const results = await bench({ threads, provider, small });
const report: BenchReport = {
  schema: 1,
  bench: name,
  commit: commit(),
  cpu: cpus()[0]?.model ?? 'unknown',
  threads,
  ...(provider === 'cpu' ? {} : { provider, device: deviceName(provider) }),
  ...(small ? { small } : {}),
  results,
};
console.log(values.json ? JSON.stringify(report) : formatResults(results));

// npm run bench -- NAME [--json]: runs one bench, prints its results for people, or one JSON line.
// Measures only; nothing here passes or fails by itself.

import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { engineBench } from './engine.ts';
import { formatResults } from './report.ts';
import type { BenchReport, BenchResult } from './report.ts';

const benches: Readonly<Record<string, (threads: number) => Promise<BenchResult[]>>> = {
  engine: engineBench,
};

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, threads: { type: 'string' } },
});
const [name = ''] = positionals;
const bench = benches[name];
if (bench === undefined) {
  console.error(`unknown bench "${name}": one of ${Object.keys(benches).join(', ')} [--json] [--threads N]`);
  process.exit(2);
}
const threads = Number(values.threads ?? availableParallelism());
const results = await bench(threads);
const report: BenchReport = {
  schema: 1,
  bench: name,
  commit: commit(),
  cpu: cpus()[0]?.model ?? 'unknown',
  threads,
  results,
};
console.log(values.json ? JSON.stringify(report) : formatResults(results));

// The conditions under which a resume is exact to the bit: kernels differ between libraries, instruction sets and numbers
// of threads. They are written into every checkpoint and compared when one is resumed.
import { cpus } from 'node:os';
import { readFileSync } from 'node:fs';
import type { Manifest } from '../../api/contract/checkpoint.ts';
import type { Runtime } from '../engine/ort/runtime.ts';

export type Conditions = Manifest['conditions'];

/** What is chosen for a job, beside what the machine has. */
export interface Chosen {
  /** The learner's budget for activations. */
  readonly memoryBytes: number;
  /** The sampler's. */
  readonly cacheTokens: number;
  readonly precision: Conditions['precision'];
  /** Adapter and driver. */
  readonly device: string;
}

export function conditionsOf(runtime: Runtime, chosen: Chosen): Conditions {
  return {
    provider: runtime.provider,
    device: chosen.device,
    precision: chosen.precision,
    onnxruntime: runtime.version,
    threads: runtime.threads,
    cpu: `${process.arch} ${instructionSet()}`,
    node: process.versions.node,
    memory_bytes: chosen.memoryBytes,
    cache_tokens: chosen.cacheTokens,
  };
}

/** What differs, as sentences; empty where a resume is exact. */
export function differences(then: Conditions, now: Conditions): string[] {
  const changed = (Object.keys(now) as (keyof Conditions)[])
    .filter((key) => then[key] !== now[key])
    .map((key) => `${key} was ${then[key]}, is ${now[key]}`);
  if (now.provider === 'cpu') return changed;
  return [...changed, `${now.provider} adds in an order of its own: nothing there repeats to the bit`];
}

/** The vector extensions that choose kernels; the processor's name where the system does not list them. */
function instructionSet(): string {
  try {
    const flags =
      /^(?:flags|Features)\s*:\s*(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]?.split(' ') ?? [];
    return flags
      .filter((flag) => /^(avx|amx|fma|asimd|sve)/.test(flag))
      .sort()
      .join(' ');
  } catch {
    return cpus()[0]?.model ?? 'unknown';
  }
}

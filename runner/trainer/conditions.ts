// The conditions under which a resume is exact to the bit: kernels differ between libraries, instruction sets and numbers
// of threads. They are written into every checkpoint and compared when one is resumed.
import { cpus } from 'node:os';
import { readFileSync } from 'node:fs';
import type { Manifest } from '../../api/contract/checkpoint.ts';
import type { Runtime } from '../engine/ort/runtime.ts';

export type Conditions = Manifest['conditions'];

/** `memoryBytes` is the learner's budget for activations. */
export function conditionsOf(runtime: Runtime, memoryBytes: number): Conditions {
  return {
    provider: 'cpu',
    onnxruntime: runtime.version,
    threads: runtime.threads,
    cpu: `${process.arch} ${instructionSet()}`,
    node: process.versions.node,
    memory_bytes: memoryBytes,
  };
}

/** What differs, as sentences; empty where a resume is exact. */
export function differences(then: Conditions, now: Conditions): string[] {
  return (Object.keys(now) as (keyof Conditions)[])
    .filter((key) => then[key] !== now[key])
    .map((key) => `${key} was ${then[key]}, is ${now[key]}`);
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

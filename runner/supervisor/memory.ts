// How much memory this machine's accelerator has, in GB of 10^9 bytes, where that can be found out without opening it:
// RAM (the container's limit where there is one) for cpu, what NVIDIA's own tool reports for its devices.
import { execFileSync } from 'node:child_process';
import { totalmem } from 'node:os';
import type { Accelerator } from '../../api/contract/names.ts';

const toolMs = 10_000;

/** Undefined where nothing here knows: it must be set. `nvidiaTool` is what is asked for the memory of devices. */
export function acceleratorMemoryGb(accelerator: Accelerator, nvidiaTool = 'nvidia-smi'): number | undefined {
  return accelerator === 'cpu' ? gb(ramBytes()) : nvidiaMemoryGb(nvidiaTool);
}

const gb = (bytes: number): number => Math.floor(bytes / 1e8) / 10;

function ramBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Of the smallest device: a job may be given any of them. The tool counts in MiB. */
function nvidiaMemoryGb(tool: string): number | undefined {
  try {
    const query = ['--query-gpu=memory.total', '--format=csv,noheader,nounits'];
    const text = execFileSync(tool, query, {
      encoding: 'utf8',
      timeout: toolMs,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const sizes = text
      .split('\n')
      .map(Number)
      .filter((mib) => mib > 0);
    return sizes.length === 0 ? undefined : gb(Math.min(...sizes) * 2 ** 20);
  } catch {
    return undefined;
  }
}

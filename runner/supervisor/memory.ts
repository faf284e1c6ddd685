// What this machine's accelerator is, and how much memory it has, in GB of 10^9 bytes, where that can be found out without opening it:
// RAM (the container's limit where there is one) for cpu, what NVIDIA's own tool reports for its devices.
import { execFileSync } from 'node:child_process';
import { totalmem } from 'node:os';
import { basename } from 'node:path';
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
  const sizes = nvidiaLines(tool, 'memory.total')
    .map(Number)
    .filter((mib) => mib > 0);
  return sizes.length === 0 ? undefined : gb(Math.min(...sizes) * 2 ** 20);
}

/** A line a device; none where the tool is not there. */
function nvidiaLines(tool: string, fields: string): string[] {
  try {
    const query = [`--query-gpu=${fields}`, '--format=csv,noheader,nounits'];
    const text = execFileSync(tool, query, {
      encoding: 'utf8',
      timeout: toolMs,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.split('\n').filter((line) => line.trim() !== '');
  } catch {
    return [];
  }
}

/**
 * Adapter and driver of a device, which kernels depend on; of one that NVIDIA's tool does not know, the Vulkan driver that
 * the environment names. The processor is described by the trainer.
 */
export function deviceName(
  accelerator: Accelerator,
  env: NodeJS.ProcessEnv = process.env,
  nvidiaTool = 'nvidia-smi',
): string {
  if (accelerator === 'cpu') return 'cpu';
  const driver = accelerator === 'webgpu' ? (env['VK_DRIVER_FILES'] ?? env['VK_ICD_FILENAMES']) : undefined;
  if (driver !== undefined) return `driver ${basename(driver)}`;
  const named = nvidiaLines(nvidiaTool, 'name,driver_version');
  return named.length === 0 ? 'unknown' : [...new Set(named)].join('; ');
}

// Seconds of one run of a binding whose tensors lie where it computes: on a device the mean of several, submitted at once,
// so that the way there and back is not what is measured.

import type { Binding, Runtime } from '../../runner/engine/ort/runtime.ts';
import type { Fence } from './fence.ts';

/** `runsAtOnce` is for a device; the CPU runs it once. */
export async function secondsOfRun(
  runtime: Runtime,
  binding: Binding,
  { fence, runsAtOnce }: { readonly fence: Fence; readonly runsAtOnce: number },
): Promise<number> {
  const started = performance.now();
  if (runtime.provider === 'cpu') {
    binding.runSync();
    return (performance.now() - started) / 1000;
  }
  for (let run = 0; run < runsAtOnce; run += 1) await binding.run();
  await fence.reached();
  return (performance.now() - started) / 1000 / runsAtOnce;
}

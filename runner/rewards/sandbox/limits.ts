// What a run may use unless it says otherwise. CPU time decides; wall time is a backstop several times as large, so that a
// busy machine does not turn right answers into wrong ones.
import type { Limits } from './sandbox.ts';

const MEBIBYTE = 2 ** 20;

export const defaultLimits: Limits = {
  cpuSeconds: 5,
  wallSeconds: 20,
  memoryBytes: 512 * MEBIBYTE,
  outputBytes: 2 * MEBIBYTE,
  fileBytes: 16 * MEBIBYTE,
  processes: 64,
  openFiles: 64,
};

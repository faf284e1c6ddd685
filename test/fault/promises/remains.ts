// What a stopped service leaves on its machine: no process, nothing in scratch.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOf } from '../processes.ts';

/** Processes that were started with `FAULT_RUN=dir` in their environment, or by such a one. */
export function processesLeft(dir: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && hasMark(name, `FAULT_RUN=${dir}`))
    .map((pid) => `process ${pid} is left: ${commandOf(Number(pid))}`);
}

function hasMark(pid: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark);
  } catch {
    return false; // gone meanwhile, or not ours
  }
}

export function scratchLeft(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.startsWith('scratch-'))
    .flatMap((name) => readdirSync(join(dir, name)).map((left) => `${join(dir, name, left)} is left`));
}

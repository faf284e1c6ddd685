// The log of one service. Starts a new file when the old one has grown large, and keeps one old file.
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

const limitBytes = 16 * 1024 * 1024;

/** A descriptor to append with; the caller closes it. */
export function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > limitBytes) renameSync(path, `${path}.old`);
  return openSync(path, 'a', 0o600);
}

export const closeLog = closeSync;

/** A line that the disk does not take is lost: a full disk ends no service. */
export function writeLine(log: number, text: string): void {
  try {
    writeSync(log, `${text}\n`);
  } catch {
    // There is no other place to say it; what the services store on that disk fails in their own words.
  }
}

/** Where the next line will begin. */
export const sizeOfLog = (log: number): number => fstatSync(log).size;

/** The last lines from a byte on, for an error message. */
export function lastLines(path: string, from: number, count = 5): string {
  try {
    const text = readFileSync(path).subarray(from).toString();
    return text.trimEnd().split('\n').slice(-count).join('\n');
  } catch {
    return '';
  }
}

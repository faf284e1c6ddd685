// The log of one service. Starts a new file when the old one has grown large, and keeps one old file.
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
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

/** The last lines, for an error message. */
export function lastLines(path: string, count = 5): string {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
  } catch {
    return '';
  }
}

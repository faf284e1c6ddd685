// What `serve` has started, kept in two places for the case that it is killed: with a guard process, which then ends
// them at once, and in a file, by which the next `serve` ends what even the guard could not.
import { spawn } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from './process-tree.ts';
import { endTree, isAlive } from './process-tree.ts';

const orphanGraceMs = 10_000;

export interface Records {
  note(identity: ProcessIdentity, state: 'started' | 'ended'): void;
  /** To be called when everything has been stopped. */
  close(): Promise<void>;
}

/** Ends what a former `serve` of this data directory left; returns how many processes that were. */
export async function endLeftovers(path: string): Promise<number> {
  const left = readRecord(path).filter(isAlive);
  for (const identity of left.reverse()) await endTree(identity, orphanGraceMs);
  rmSync(path, { force: true });
  return left.length;
}

export function keepRecords(path: string): Records {
  const running = new Map<number, ProcessIdentity>();
  const guard = spawn(process.execPath, [join(import.meta.dirname, 'guard-main.ts'), String(orphanGraceMs)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.stdin.on('error', () => undefined); // a guard that was killed guards nothing; the file still does
  const gone = new Promise<void>((resolve) => {
    guard.once('exit', () => resolve());
    guard.once('error', () => resolve());
  });
  return {
    note(identity, state) {
      if (state === 'started') running.set(identity.pid, identity);
      else running.delete(identity.pid);
      writeRecord(path, [...running.values()]);
      guard.stdin.write(`${JSON.stringify({ identity, state })}\n`);
    },
    async close() {
      rmSync(path, { force: true });
      guard.stdin.end();
      await gone;
    },
  };
}

/** Where the disk is full only the guard knows, and the services go on. */
function writeRecord(path: string, running: readonly ProcessIdentity[]): void {
  try {
    writeFileSync(`${path}.new`, JSON.stringify(running));
    renameSync(`${path}.new`, path);
  } catch {
    rmSync(`${path}.new`, { force: true });
  }
}

function readRecord(path: string): ProcessIdentity[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity[];
  } catch {
    return [];
  }
}

// One `serve` for each data directory: a file that names the process which holds it. A file whose process is gone
// (kill -9, a power cut) is taken over.
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ProcessIdentity } from './process-tree.ts';
import { identityOf, isAlive } from './process-tree.ts';
import { UserError } from '../user-error.ts';

/** Returns what gives the lock back. @throws UserError naming the process that holds it. */
export function takeLock(path: string): () => void {
  const own = identityOf(process.pid);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(own));
  try {
    // A link appears whole or not at all, and only where nothing is.
    while (!tryLink(draft, path)) {
      const holder = holderOf(path);
      if (holder !== undefined && isAlive(holder))
        throw new UserError(
          `another millrace serve (process ${holder.pid}) uses this data directory (${path}): stop it, or choose another with --data-dir`,
        );
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return () => {
    if (holderOf(path)?.pid === own.pid) rmSync(path, { force: true });
  };
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function holderOf(path: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity;
  } catch {
    return undefined; // gone just now, or cut short by a full disk: nobody's
  }
}

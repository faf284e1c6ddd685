// From a key to a file that provably lies inside the store, and the folder for files being written.
import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

import { StoreProblem } from './error.ts';
import { errnoOf } from './filesystem-error.ts';

/** Files being written; `list` does not show it and no key may begin with it. */
export const incomingFolder = '.incoming';

export function isReserved(key: string): boolean {
  return key.split('/')[0] === incomingFolder;
}

/** The real path of an existing file or folder; a symbolic link out of `root` is `denied`. */
export async function inside(root: string, path: string): Promise<string> {
  const [realRoot, real] = await Promise.all([realpath(root), realpath(path)]);
  if (real === realRoot || real.startsWith(realRoot + sep)) return real;
  throw new StoreProblem('denied', `a symbolic link leads out of the store to ${real}`);
}

/** The real path of a key's file, or undefined when there is neither file nor folder. */
export async function pathOf(root: string, key: string): Promise<string | undefined> {
  try {
    return await inside(root, join(root, key));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Nothing has this name: the entry is missing, or a file stands where a folder would be. */
export function isAbsent(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR';
}

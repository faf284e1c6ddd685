// Walks the files below a root in the order in which S3 lists keys: by the bytes of the whole
// key. A folder therefore sorts as if its name ended in a slash. Links are not followed.
import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { errnoOf } from './filesystem-error.ts';
import type { ObjectEntry } from './store.ts';

/** Files whose path relative to `root` (with `/`) starts with `prefix`; memory is one folder a level. */
export async function* walkFiles(root: string, prefix: string): AsyncGenerator<ObjectEntry, void, undefined> {
  yield* walkFolder(root, prefix.slice(0, prefix.lastIndexOf('/') + 1), prefix);
}

async function* walkFolder(
  root: string,
  folder: string,
  prefix: string,
): AsyncGenerator<ObjectEntry, void, undefined> {
  for (const entry of await readSorted(join(root, folder))) {
    const key = folder + sortName(entry);
    if (!key.startsWith(prefix) && !prefix.startsWith(key)) continue;
    if (entry.isDirectory()) yield* walkFolder(root, key, prefix);
    else if (entry.isFile() && key.startsWith(prefix)) {
      const info = await ifPresent(stat(join(root, key)));
      if (info !== undefined) yield { key, size: info.size, modified: info.mtime };
    }
  }
}

/** Names of the folders in `folder`, in that order too. */
export async function foldersIn(root: string, folder: string): Promise<string[]> {
  const entries = await readSorted(join(root, folder));
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function sortName(entry: Dirent): string {
  return entry.isDirectory() ? `${entry.name}/` : entry.name;
}

async function readSorted(path: string): Promise<Dirent[]> {
  const entries = await ifPresent(readdir(path, { withFileTypes: true }));
  const named = (entries ?? []).map((entry) => ({ entry, bytes: Buffer.from(sortName(entry)) }));
  return named.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ entry }) => entry);
}

/** Undefined for what vanished while we walked, or was never there. */
async function ifPresent<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

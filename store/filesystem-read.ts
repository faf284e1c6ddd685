// Reads one object of the filesystem store.
import { open, stat, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';

import { rangeOutside } from './download.ts';
import { StoreProblem } from './error.ts';
import { pathOf } from './filesystem-path.ts';
import type { ByteRange } from './store.ts';

/** Size in bytes, or undefined when there is no such object. */
export async function sizeOf(root: string, key: string): Promise<number | undefined> {
  const path = await pathOf(root, key);
  if (path === undefined) return undefined;
  const info = await stat(path);
  return info.isFile() ? info.size : undefined;
}

/** A stream of the asked bytes and how many they are. */
export async function openFile(
  root: string,
  key: string,
  range: ByteRange | undefined,
): Promise<{ stream: Readable; size: number }> {
  const path = await pathOf(root, key);
  if (path === undefined) throw new StoreProblem('not_found', 'there is no such object');
  const handle = await open(path);
  try {
    return await streamOf(handle, range);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The stream owns the handle. */
async function streamOf(handle: FileHandle, range: ByteRange | undefined) {
  const info = await handle.stat();
  if (!info.isFile())
    throw new StoreProblem('not_found', 'there is no such object, only objects below this key');
  const { size } = info;
  if (range === undefined) return { stream: handle.createReadStream(), size };
  const { start } = range;
  if (start >= size) throw rangeOutside(range);
  const end = Math.min(range.end ?? size - 1, size - 1);
  return { stream: handle.createReadStream({ start, end }), size: end - start + 1 };
}

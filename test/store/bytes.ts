// Test bytes that are cheap to make, differ everywhere and need not be kept in memory.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { ObjectStore } from '../../store/store.ts';

const chunkBytes = 1 << 16;

/** The chunk number `index` of an endless sequence. */
function chunkAt(index: number): Buffer {
  const chunk = Buffer.alloc(chunkBytes);
  for (let at = 0; at < chunkBytes; at += 4) chunk.writeUInt32LE((index * 40503 + at * 2654435761) >>> 0, at);
  return chunk;
}

/** `size` bytes of the sequence (a multiple of 64 KiB), hashed on the way; `atChunk` sees each index. */
export function generatedStream(
  size: number,
  atChunk: (index: number) => void | Promise<void> = () => undefined,
): { stream: Readable; sha256: () => string } {
  const hash = createHash('sha256');
  async function* chunks() {
    for (let index = 0; index < size / chunkBytes; index++) {
      await atChunk(index);
      const chunk = chunkAt(index);
      hash.update(chunk);
      yield chunk;
    }
  }
  return { stream: Readable.from(chunks(), { objectMode: false }), sha256: () => hash.digest('hex') };
}

export async function hashOf(stream: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

export async function bytesOf(stream: Readable): Promise<Buffer> {
  return Buffer.concat((await stream.toArray()) as Uint8Array[]);
}

export async function textAt(store: ObjectStore, key: string): Promise<string> {
  return (await bytesOf(await store.get(key))).toString();
}

export async function keysOf(store: ObjectStore, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const entry of store.list(prefix)) keys.push(entry.key);
  return keys;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes of live buffers, after a garbage collection. */
export function liveBufferBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

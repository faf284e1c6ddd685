// Brings a checkpoint's files to a directory. A file is written beside its name and takes it only when its hash is
// right; what an interrupted pull left is gone on with, what is already there and right is not fetched again.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { send } from '../../api/client/request.ts';
import type { Checkpoint } from '../../api/contract/checkpoint.ts';
import type { Connection } from '../connection.ts';
import { UserError } from '../user-error.ts';

type File = Checkpoint['files'][number];

export interface Pull {
  readonly connection: Connection;
  readonly checkpoint: Checkpoint;
  readonly directory: string;
  /** Called with the bytes at hand so far, of all files together. */
  readonly onBytes: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/** @throws UserError where bytes do not have the hash that the checkpoint names, after one more try from the start. */
export async function pull(asked: Pull): Promise<void> {
  let before = 0;
  for (const file of asked.checkpoint.files) {
    const path = join(asked.directory, file.name);
    await mkdir(dirname(path), { recursive: true });
    if (!(await isComplete(path, file))) {
      const onBytes = (bytes: number): void => asked.onBytes(before + bytes);
      if (!(await fetchFile(asked, file, path, onBytes)) && !(await fetchFile(asked, file, path, onBytes)))
        throw new UserError(
          `${file.name} of ${asked.checkpoint.id} does not have the SHA-256 that the checkpoint names: the object in the store is damaged`,
        );
    }
    before += file.size;
    asked.onBytes(before);
  }
}

async function isComplete(path: string, file: File): Promise<boolean> {
  return (await sizeOf(path)) === file.size && (await sha256Of(path)) === file.sha256;
}

/** Goes on from the partial file if there is one. False, and no partial file, where the hash came out wrong. */
async function fetchFile(
  asked: Pull,
  file: File,
  path: string,
  onBytes: (bytes: number) => void,
): Promise<boolean> {
  const partial = `${path}.part`;
  const have = (await sizeOf(partial)) ?? 0;
  if (have > file.size) await rm(partial);
  else if (have < file.size || file.size === 0) await download(asked, file, partial, have, onBytes);
  if ((await sizeOf(partial)) === file.size && (await sha256Of(partial)) === file.sha256) {
    await rename(partial, path);
    return true;
  }
  await rm(partial, { force: true });
  return false;
}

async function download(
  { connection, checkpoint, signal }: Pull,
  file: File,
  partial: string,
  have: number,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const response = await send(connection.options, {
    method: 'GET',
    path: `/v1/checkpoints/${checkpoint.id}/files/${encodeURIComponent(file.name)}`,
    headers: have > 0 ? { range: `bytes=${have}-` } : {},
    repeatable: true,
    timeoutMs: null,
    signal,
  });
  // Whoever serves the bytes may not know ranges: then it answers 200 with all of them.
  const from = response.status === 206 ? have : 0;
  const handle = await open(partial, from > 0 ? 'a' : 'w');
  try {
    let written = from;
    for await (const chunk of bytesOf(response)) {
      await handle.writeFile(chunk);
      onBytes((written += chunk.length));
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const bytesOf = (response: Response): AsyncIterable<Uint8Array> =>
  (response.body ?? new Blob([]).stream()) as unknown as AsyncIterable<Uint8Array>;

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

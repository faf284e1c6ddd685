// A file that lives as long as one request, so that a dataset is never held in memory.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProblemError } from '../problem.ts';

export interface ScratchFile {
  readonly path: string;
  write(text: string): Promise<void>;
  /** Ends the file; it can be read until `remove`. */
  close(): Promise<{ size: number; sha256: string }>;
  remove(): Promise<void>;
}

export async function openScratch(): Promise<ScratchFile> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-dataset-'));
  const path = join(folder, 'rows.jsonl');
  const stream = createWriteStream(path, { highWaterMark: 1 << 20, mode: 0o600 });
  const hash = createHash('sha256');
  let size = 0;
  let failure: Error | undefined;
  stream.on('error', (error) => (failure = error));
  const check = (): void => {
    if (failure === undefined) return;
    throw new ProblemError(
      'store_unavailable',
      `the service cannot keep the upload in ${tmpdir()}: ${failure.message}`,
      { cause: failure },
    );
  };
  return {
    path,
    async write(text) {
      check();
      const bytes = Buffer.from(text);
      hash.update(bytes);
      size += bytes.byteLength;
      if (!stream.write(bytes))
        await Promise.race([once(stream, 'drain'), once(stream, 'close')]).catch(() => undefined);
      check();
    },
    async close() {
      await new Promise<void>((resolve) => stream.end(resolve).once('close', resolve));
      check();
      return { size, sha256: hash.digest('hex') };
    },
    async remove() {
      stream.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// A folder of its own for a test file or a test, gone afterwards.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempDir extends AsyncDisposable {
  readonly path: string;
  remove(): Promise<void>;
}

/** Makes an empty folder; `await using` or `remove()` deletes it with everything in it. */
export async function tempDir(name = 'test'): Promise<TempDir> {
  const path = await mkdtemp(join(tmpdir(), `millrace-${name}-`));
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 });
  return { path, remove, [Symbol.asyncDispose]: remove };
}

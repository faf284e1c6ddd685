// The object store on a local or mounted file system: a key is a path below the root. An object
// appears by an atomic rename of a synced file, so nobody sees half of one. It serves no URLs.
// Unlike S3 it cannot hold both `a` and `a/b`. Symbolic links out of the root are refused.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { measureBody } from './body.ts';
import { checkRange, download } from './download.ts';
import { StoreProblem } from './error.ts';
import { filesystemError } from './filesystem-error.ts';
import { incomingFolder, isReserved } from './filesystem-path.ts';
import { openFile, sizeOf } from './filesystem-read.ts';
import { foldersIn, walkFiles } from './filesystem-walk.ts';
import { cleanLeftovers, removeFile, writeFile } from './filesystem-write.ts';
import { checkKey, checkPrefix, isAfter } from './keys.ts';
import type { ObjectEntry, ObjectStore } from './store.ts';

const cleaningIntervalMs = 3600 * 1000;

/** A store below `rootDir`, which is created when the first object is put. */
export function filesystemStore(rootDir: string): ObjectStore {
  const root = resolve(rootDir);
  const store = pathToFileURL(root).href;
  let cleanedAt = -Infinity;

  const toStoreError = (operation: string, key: string) => (cause: unknown) =>
    filesystemError({ store, operation, key }, cause);

  /** Runs one operation; whatever it throws leaves as a StoreError that names the key. */
  async function boundary<T>(operation: string, key: string, run: () => Promise<T>): Promise<T> {
    checkKey(store, operation, key);
    try {
      if (isReserved(key)) throw new StoreProblem('invalid', `keys may not begin with "${incomingFolder}"`);
      return await run();
    } catch (cause) {
      throw toStoreError(operation, key)(cause);
    }
  }

  async function cleanNowAndThen(): Promise<void> {
    const now = Date.now();
    if (now - cleanedAt < cleaningIntervalMs) return;
    cleanedAt = now;
    await cleanLeftovers(root);
  }

  return {
    put(key, body, { sha256, ifNoneMatch } = {}) {
      return boundary('put', key, async () => {
        const measured = await measureBody(body, sha256);
        await cleanNowAndThen();
        await writeFile(root, key, measured, ifNoneMatch === '*');
        return measured.result();
      });
    },
    get(key, { range } = {}) {
      return boundary('get', key, async () => {
        checkRange(range);
        const { stream, size } = await openFile(root, key, range);
        return download(stream, size, toStoreError('get', key));
      });
    },
    head(key) {
      return boundary('head', key, async () => {
        const size = await sizeOf(root, key);
        return size === undefined ? undefined : { size };
      });
    },
    async *list(prefix): AsyncGenerator<ObjectEntry, void, undefined> {
      checkPrefix(store, prefix);
      try {
        for await (const entry of walkFiles(root, prefix)) if (!isReserved(entry.key)) yield entry;
      } catch (cause) {
        throw toStoreError('list', prefix)(cause);
      }
    },
    async *folders(prefix, after): AsyncGenerator<string, void, undefined> {
      checkPrefix(store, prefix);
      try {
        for (const name of await foldersIn(root, prefix))
          if (!isReserved(prefix + name) && isAfter(name, after)) yield name;
      } catch (cause) {
        throw toStoreError('list', prefix)(cause);
      }
    },
    async *unfinished() {
      // Files being written have names of their own, and the next put removes those of dead writers.
    },
    async delete(keys) {
      for (const key of typeof keys === 'string' ? [keys] : keys)
        await boundary('delete', key, () => removeFile(root, key));
    },
    presignGet(key) {
      return boundary('presign', key, () => Promise.resolve(undefined));
    },
    describe: () => store,
  };
}

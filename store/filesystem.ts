// The object store on a local or mounted file system: a key is a path below the root. An object
// appears by an atomic rename of a synced file, so nobody sees half of one. It serves no URLs.
// Unlike S3 it cannot hold both `a` and `a/b`. Symbolic links out of the root are refused.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  link,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  type FileHandle,
} from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

import { measureBody, type MeasuredBody } from './body.ts';
import { download, rangeOutside, checkRange } from './download.ts';
import { StoreError, StoreProblem } from './error.ts';
import { errnoOf, filesystemError } from './filesystem-error.ts';
import { checkKey, checkPrefix } from './keys.ts';
import { walkFiles } from './filesystem-walk.ts';
import type { ByteRange, ObjectEntry, ObjectStore, PutOptions } from './store.ts';

/** Files being written; `list` does not show it and no key may begin with it. */
export const incomingFolder = '.incoming';
const leftoverAgeMs = 24 * 3600 * 1000;
const cleaningIntervalMs = 3600 * 1000;
const publishTries = 20;

/** A store below `rootDir`, which is created when the first object is put. */
export function filesystemStore(rootDir: string): ObjectStore {
  const root = resolve(rootDir);
  const incoming = join(root, incomingFolder);
  const store = pathToFileURL(root).href;
  let cleanedAt = -Infinity;

  /** Runs one operation; whatever it throws leaves as a StoreError that names the key. */
  async function boundary<T>(operation: string, key: string, run: () => Promise<T>): Promise<T> {
    checkKey(store, operation, key);
    if (key.split('/')[0] === incomingFolder) {
      const problem = `keys may not begin with "${incomingFolder}"`;
      throw new StoreError('invalid', { store, operation, key, problem });
    }
    try {
      return await run();
    } catch (cause) {
      throw filesystemError({ store, operation, key }, cause);
    }
  }

  /** The file of a key, proven to lie inside the root after links are followed. */
  async function inside(path: string): Promise<string> {
    const [realRoot, real] = await Promise.all([realpath(root), realpath(path)]);
    if (real === realRoot || real.startsWith(realRoot + sep)) return real;
    throw new StoreProblem('denied', `a symbolic link leads out of the store to ${real}`);
  }

  async function realObject(key: string): Promise<string> {
    try {
      return await inside(join(root, key));
    } catch (error) {
      if (errnoOf(error) !== 'ENOTDIR') throw error;
      throw new StoreProblem('not_found', 'there is no such object, only one at its beginning');
    }
  }

  async function cleanLeftovers(): Promise<void> {
    const now = Date.now();
    if (now - cleanedAt < cleaningIntervalMs) return;
    cleanedAt = now;
    for (const name of await readdir(incoming)) {
      const path = join(incoming, name);
      const info = await stat(path).catch(() => undefined); // its writer may have just finished
      if (info !== undefined && now - info.mtimeMs > leftoverAgeMs) await rm(path, { force: true });
    }
  }

  async function put(key: string, body: MeasuredBody, options: PutOptions): Promise<void> {
    await makeDir(incoming);
    await cleanLeftovers();
    const temporary = join(incoming, randomUUID());
    try {
      await writeSynced(temporary, body);
      await publish(temporary, join(root, key), options.ifNoneMatch === '*');
    } finally {
      await rm(temporary, { force: true });
    }
  }

  async function publish(temporary: string, target: string, exclusive: boolean): Promise<void> {
    const folder = dirname(target);
    // A delete elsewhere may remove the empty folder between its making and the rename.
    for (let tries = 1; ; tries++) {
      try {
        await makeDir(folder);
        await inside(folder);
        await (exclusive ? link(temporary, target) : rename(temporary, target));
        break;
      } catch (error) {
        if (errnoOf(error) !== 'ENOENT' || tries === publishTries) throw error;
      }
    }
    await syncDir(folder).catch((error: unknown) => {
      if (errnoOf(error) !== 'ENOENT') throw error; // deleted again already, folder and all
    });
  }

  async function remove(key: string): Promise<void> {
    const path = join(root, key);
    try {
      await inside(dirname(path));
      if ((await stat(path)).isFile()) await rm(path);
    } catch (error) {
      // A missing file, or a file where a folder would be: there is no such object.
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return;
      throw error;
    }
    await removeEmptyFolders(dirname(path), root);
  }

  return {
    put(key, body, options = {}) {
      return boundary('put', key, async () => {
        const measured = await measureBody(body, options.sha256);
        await put(key, measured, options);
        return measured.result();
      });
    },
    get(key, { range } = {}) {
      return boundary('get', key, async () => {
        checkRange(range);
        const handle = await openObject(await realObject(key));
        const { stream, size } = await openRange(handle, range);
        return download(stream, size, (cause) =>
          filesystemError({ store, operation: 'get', key }, cause),
        );
      });
    },
    head(key) {
      return boundary('head', key, async () => {
        try {
          const info = await stat(await inside(join(root, key)));
          return info.isFile() ? { size: info.size } : undefined;
        } catch (error) {
          if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
          throw error;
        }
      });
    },
    async *list(prefix): AsyncGenerator<ObjectEntry, void, undefined> {
      checkPrefix(store, prefix);
      try {
        for await (const entry of walkFiles(root, prefix))
          if (!entry.key.startsWith(`${incomingFolder}/`)) yield entry;
      } catch (cause) {
        throw filesystemError({ store, operation: 'list', key: prefix }, cause);
      }
    },
    async delete(keys) {
      for (const key of typeof keys === 'string' ? [keys] : keys)
        await boundary('delete', key, () => remove(key));
    },
    presignGet(key) {
      return boundary('presign', key, () => Promise.resolve(undefined));
    },
    describe: () => store,
  };
}

async function writeSynced(path: string, body: MeasuredBody): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(body.chunks);
    await handle.sync();
    const { size } = await handle.stat();
    if (size !== body.size)
      throw new StoreProblem('corrupt', `only ${size} of ${body.size} bytes were written`);
  } finally {
    await handle.close();
  }
}

async function openObject(path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new StoreProblem('not_found', 'there is no such object, only objects below this key');
}

/** A stream of the asked bytes and how many they are; it owns the handle. */
async function openRange(
  handle: FileHandle,
  range: ByteRange | undefined,
): Promise<{ stream: Readable; size: number }> {
  const { size } = await handle.stat();
  if (range === undefined) return { stream: handle.createReadStream(), size };
  const { start } = range;
  const end = Math.min(range.end ?? size - 1, size - 1);
  if (start >= size) {
    await handle.close();
    throw rangeOutside(range);
  }
  return { stream: handle.createReadStream({ start, end }), size: end - start + 1 };
}

/** mkdir -p whose new folders survive a power cut: each parent of a new folder is synced. */
async function makeDir(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let dir = path; dir.length >= first.length; dir = dirname(dir)) await syncDir(dirname(dir));
}

async function syncDir(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeEmptyFolders(from: string, root: string): Promise<void> {
  for (let dir = from; dir !== root; dir = dirname(dir)) {
    try {
      await rmdir(dir);
    } catch {
      return; // not empty, or someone else removed it: both are fine
    }
  }
}

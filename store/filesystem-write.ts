// Writes and deletes one object of the filesystem store so that it is there whole or not at all,
// through kills and power cuts: the bytes are synced before the rename, the folder after it.
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { MeasuredBody } from './body.ts';
import { StoreProblem } from './error.ts';
import { errnoOf } from './filesystem-error.ts';
import { incomingFolder, inside, isAbsent } from './filesystem-path.ts';

const leftoverAgeMs = 24 * 3600 * 1000;
const publishTries = 20;

/** With `exclusive` an existing object is kept and EEXIST thrown. */
export async function writeFile(
  root: string,
  key: string,
  body: MeasuredBody,
  exclusive: boolean,
): Promise<void> {
  await makeDir(join(root, incomingFolder));
  const temporary = join(root, incomingFolder, randomUUID());
  try {
    await writeSynced(temporary, body);
    await publish(root, temporary, join(root, key), exclusive);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Deletes a key's file, if there is one, and the folders that it leaves empty. */
export async function removeFile(root: string, key: string): Promise<void> {
  const path = join(root, key);
  try {
    await inside(root, dirname(path));
    if ((await stat(path)).isFile()) await rm(path);
  } catch (error) {
    if (isAbsent(error)) return;
    throw error;
  }
  await removeEmptyFolders(dirname(path), root);
}

/** Removes what writers killed more than a day ago left; a running writer keeps its file young. */
export async function cleanLeftovers(root: string): Promise<void> {
  const incoming = join(root, incomingFolder);
  const names = await readdir(incoming).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw error;
  });
  for (const name of names) {
    const path = join(incoming, name);
    const info = await stat(path).catch(() => undefined); // its writer may have just finished
    if (info !== undefined && Date.now() - info.mtimeMs > leftoverAgeMs) await rm(path, { force: true });
  }
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

async function publish(root: string, temporary: string, target: string, exclusive: boolean): Promise<void> {
  const folder = dirname(target);
  // A delete elsewhere may remove the empty folder between its making and the rename.
  for (let tries = 1; ; tries++) {
    try {
      await makeDir(folder);
      await inside(root, folder);
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

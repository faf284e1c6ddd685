// The filesystem store: the contract, and what only file systems do.
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { incomingFolder } from '../../store/filesystem-path.ts';
import { filesystemStore } from '../../store/filesystem.ts';
import type { ObjectStore } from '../../store/store.ts';
import { tempDir, type TempDir } from '../support/temp-dir.ts';
import { generatedStream, keysOf, textAt } from './bytes.ts';
import { storeCases, storeError } from './cases.ts';

storeCases(async () => {
  const dir = await tempDir('filesystem');
  const root = join(dir.path, 'made by the store');
  return { store: filesystemStore(root), url: pathToFileURL(root).href, env: {}, remove: dir.remove };
});

describe('on a file system', () => {
  let dir: TempDir;
  let store: ObjectStore;
  const bytes = Buffer.from('x');

  beforeEach(async () => {
    dir = await tempDir('filesystem');
    store = filesystemStore(dir.path);
  });
  afterEach(() => dir.remove());

  it('the files are there under their keys, and nothing else once objects are gone', async () => {
    await store.put('jobs/1/log', bytes);
    expect(await readdir(join(dir.path, 'jobs/1'))).toEqual(['log']);
    await store.delete('jobs/1/log');
    expect(await readdir(dir.path)).toEqual([incomingFolder]);
    expect(await readdir(join(dir.path, incomingFolder))).toEqual([]);
  });

  it('a key cannot be an object and a folder', async () => {
    await store.put('a/b', bytes);
    await expect(store.put('a', bytes)).rejects.toEqual(storeError('conflict', 'a'));
    await expect(store.put('a/b/c', bytes)).rejects.toEqual(storeError('conflict', 'a/b/c'));
    expect(await keysOf(store)).toEqual(['a/b']);
  });

  it('objects put while others are deleted from the same folder survive', async () => {
    for (let round = 0; round < 40; round++) {
      await store.put('busy/deep/old', bytes);
      await Promise.all([store.delete('busy/deep/old'), store.put('busy/deep/new', bytes)]);
      expect(await textAt(store, 'busy/deep/new')).toBe('x');
      await store.delete('busy/deep/new');
    }
  });

  it('leftovers of killed writers are hidden, and cleaned when older than a day', async () => {
    const leftover = (name: string) => join(dir.path, incomingFolder, name);
    await mkdir(join(dir.path, incomingFolder));
    await writeFile(leftover('old'), 'half');
    await writeFile(leftover('recent'), 'half');
    const hours = (ago: number) => new Date(Date.now() - ago * 3600_000);
    await utimes(leftover('old'), hours(25), hours(25));
    await utimes(leftover('recent'), hours(23), hours(23));
    expect(await keysOf(store)).toEqual([]);
    await store.put('next', bytes);
    expect(await readdir(join(dir.path, incomingFolder))).toEqual(['recent']);
    expect(await keysOf(store)).toEqual(['next']);
  });

  it('the folder for leftovers is no key', async () => {
    const key = `${incomingFolder}/x`;
    await expect(store.put(key, bytes)).rejects.toEqual(storeError('invalid', key));
    await expect(store.get(key)).rejects.toEqual(storeError('invalid', key));
  });

  it('a symbolic link does not lead out of the store', async () => {
    const outside = await tempDir('outside');
    try {
      await writeFile(join(outside.path, 'secret'), 's');
      await symlink(outside.path, join(dir.path, 'link'));
      await expect(store.get('link/secret')).rejects.toEqual(storeError('denied', 'link/secret'));
      await expect(store.put('link/new', bytes)).rejects.toEqual(storeError('denied', 'link/new'));
      await expect(store.delete('link/secret')).rejects.toEqual(storeError('denied'));
      expect(await readdir(outside.path)).toEqual(['secret']);
      expect(await keysOf(store)).toEqual([]);
    } finally {
      await outside.remove();
    }
  });

  it('serves no URLs', async () => {
    expect(await store.presignGet('a', { expiresIn: 60 })).toBeUndefined();
  });
});

/** Mounts a tmpfs of 4 MiB; undefined where that is not allowed (not root, or a sandbox). */
function mountSmallDisk(path: string): (() => void) | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return () => execFileSync('umount', [path]);
}

describe('on a small disk', () => {
  it('a full one is named, leaves nothing and works again when space is free', async (test) => {
    await using dir = await tempDir('full');
    const unmount = mountSmallDisk(dir.path);
    if (unmount === undefined) return test.skip('mounting a small tmpfs needs root');
    try {
      const store = filesystemStore(dir.path);
      await store.put('kept', Buffer.from('kept'));
      const size = 8 << 20;
      const tooLarge = store.put('large', { stream: generatedStream(size).stream, size });
      await expect(tooLarge).rejects.toEqual(storeError('full', 'large'));
      await expect(tooLarge).rejects.toThrow(/no space is left .*free some/);
      expect(await keysOf(store)).toEqual(['kept']);
      expect(await readdir(join(dir.path, incomingFolder))).toEqual([]);
      await store.put('fits', Buffer.alloc(1 << 20));
      expect(await keysOf(store)).toEqual(['fits', 'kept']);
    } finally {
      unmount();
    }
  });

  it('a read-only one denies', async (test) => {
    await using dir = await tempDir('readonly');
    const unmount = mountSmallDisk(dir.path);
    if (unmount === undefined) return test.skip('mounting a small tmpfs needs root');
    try {
      const store = filesystemStore(dir.path);
      await store.put('kept', Buffer.from('kept'));
      execFileSync('mount', ['-o', 'remount,ro', dir.path]);
      await expect(store.put('new', Buffer.from('x'))).rejects.toEqual(storeError('denied', 'new'));
      await expect(store.delete('kept')).rejects.toEqual(storeError('denied', 'kept'));
      expect(await textAt(store, 'kept')).toBe('kept');
    } finally {
      unmount();
    }
  });
});

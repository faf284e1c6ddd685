// The contract of every object store. An implementation's test file says how to make an empty
// store; all cases run on it. Each case has key names of its own, so one store serves them all.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { StoreErrorCode } from '../../store/error.ts';
import type { ObjectBody, ObjectStore } from '../../store/store.ts';
import { tempDir, type TempDir } from '../support/temp-dir.ts';
import { bytesOf, generatedStream, hashOf, keysOf, liveBufferBytes, textAt } from './bytes.ts';

export interface StoreFixture {
  readonly store: ObjectStore;
  /** How another process opens the same store; a Worker's binding is open to its own process only. */
  readonly url?: string;
  readonly env?: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

const mebibyte = 1 << 20;
/**
 * What a transfer of any size may hold in memory. S3 is tested with two parts of 5 MiB in flight,
 * of which the SDK holds up to two copies each, one being gathered, and one read ahead.
 */
const boundedBytes = 36 * mebibyte;

/** The shape of a StoreError that names its key. */
export function storeError(code: StoreErrorCode, key?: string): unknown {
  const named = key === undefined ? {} : { key, message: expect.stringContaining(key) as string };
  return expect.objectContaining({ name: 'StoreError', code, ...named });
}

export function storeCases(make: () => Promise<StoreFixture>): void {
  let fixture: StoreFixture;
  let store: ObjectStore;
  let scratch: TempDir;

  beforeAll(async () => {
    scratch = await tempDir('store');
    fixture = await make();
    store = fixture.store;
  });
  afterAll(async () => {
    await fixture.remove();
    await scratch.remove();
  });

  const put = (key: string, text: string) => store.put(key, Buffer.from(text));

  describe('put and get', () => {
    it('gives back what was put, with its size and SHA-256', async () => {
      const bytes = Buffer.from('first light\n');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(await store.put('plain/a.txt', bytes, { contentType: 'text/plain', sha256 })).toEqual({
        size: 12,
        sha256,
      });
      expect(await textAt(store, 'plain/a.txt')).toBe('first light\n');
      expect(await store.head('plain/a.txt')).toEqual({ size: 12 });
    });

    it('replaces an object, whichever of them is longer', async () => {
      await put('replace/x', 'a long first text');
      await put('replace/x', 'short');
      expect(await textAt(store, 'replace/x')).toBe('short');
      await put('replace/x', 'and a longer one again');
      expect(await textAt(store, 'replace/x')).toBe('and a longer one again');
      expect(await keysOf(store, 'replace/')).toEqual(['replace/x']);
    });

    it.each<[string, () => ObjectBody]>([
      ['bytes', () => new Uint8Array()],
      ['a stream', () => ({ stream: Readable.from([]), size: 0 })],
    ])('keeps an empty object from %s', async (name, body) => {
      await store.put(`empty/${name}`, body());
      expect(await store.head(`empty/${name}`)).toEqual({ size: 0 });
      expect(await textAt(store, `empty/${name}`)).toBe('');
    });

    it('uploads a local file', async () => {
      const path = join(scratch.path, 'shard.bin');
      const bytes = Buffer.alloc(3 * mebibyte + 17, 'shard');
      await writeFile(path, bytes);
      const { size } = await store.put('file/shard', { path });
      expect(size).toBe(bytes.byteLength);
      expect((await bytesOf(await store.get('file/shard'))).equals(bytes)).toBe(true);
    });

    it.each([
      ['spaces and signs', "odd/a b+c%20&d='(e)!*~;,@:$#?.txt"],
      ['letters of the world', 'odd/ü—漢字/😀'],
      ['dots that are no steps', 'odd/..a/.b/c..'],
    ])('takes keys with %s', async (_, key) => {
      await put(key, key);
      expect(await textAt(store, key)).toBe(key);
      expect(await keysOf(store, key)).toEqual([key]);
      await store.delete(key);
      expect(await store.head(key)).toBeUndefined();
    });

    it('streams 80 MiB up and down in bounded memory', async () => {
      const size = 80 * mebibyte;
      const before = liveBufferBytes();
      let peak = 0;
      const sample = (index: number) => {
        if (index % 48 === 0) peak = Math.max(peak, liveBufferBytes() - before);
      };
      const { stream, sha256 } = generatedStream(size, sample);
      const result = await store.put('large/80m', { stream, size });
      expect(peak).toBeLessThan(boundedBytes);
      expect(result).toEqual({ size, sha256: sha256() });
      expect(await store.head('large/80m')).toEqual({ size });

      let received = 0;
      peak = 0;
      const hash = createHash('sha256');
      for await (const chunk of await store.get('large/80m')) {
        hash.update(chunk as Uint8Array);
        received += (chunk as Uint8Array).byteLength;
        if (received % (3 * mebibyte) < mebibyte / 16) sample(0);
      }
      expect(hash.digest('hex')).toBe(result.sha256);
      expect(peak).toBeLessThan(boundedBytes);
    }, 60_000);

    it('gives readers the whole old or the whole new object while it is replaced', async () => {
      const texts = ['a'.repeat(200_000), 'b'.repeat(100_000)];
      await put('swap/x', texts[0] ?? '');
      const writes = (async () => {
        for (let round = 1; round <= 12; round++) await put('swap/x', texts[round % 2] ?? '');
      })();
      const reads = await Promise.all(Array.from({ length: 24 }, () => textAt(store, 'swap/x')));
      await writes;
      for (const text of reads) expect(texts.includes(text)).toBe(true);
    });
  });

  describe('byte ranges', () => {
    beforeAll(() => put('range/digits', '0123456789'));
    const read = async (start: number, end?: number) => {
      const range = end === undefined ? { start } : { start, end };
      return (await bytesOf(await store.get('range/digits', { range }))).toString();
    };

    it.each<[number, number | undefined, string]>([
      [0, 0, '0'],
      [2, 4, '234'],
      [7, undefined, '789'],
      [8, 100, '89'],
      [0, 9, '0123456789'],
    ])('reads %s to %s', async (start, end, text) => {
      expect(await read(start, end)).toBe(text);
    });

    it.each<[number, number | undefined]>([
      [10, undefined],
      [10, 12],
      [4, 2],
      [-1, 3],
      [0.5, 3],
    ])('refuses %s to %s', async (start, end) => {
      await expect(read(start, end)).rejects.toEqual(storeError('invalid', 'range/digits'));
    });
  });

  describe('what is not there', () => {
    it('get says not_found with the key and the store', async () => {
      const message = expect.stringContaining(store.describe()) as string;
      const error: unknown = await store.get('missing/nothing').catch((cause: unknown) => cause);
      expect(error).toEqual(storeError('not_found', 'missing/nothing'));
      expect(error).toEqual(expect.objectContaining({ message }));
    });

    it('head says undefined, also below an object and above one', async () => {
      await put('missing/file', 'x');
      expect(await store.head('missing/nothing')).toBeUndefined();
      expect(await store.head('missing/file/below')).toBeUndefined();
      expect(await store.head('missing')).toBeUndefined();
      for (const key of ['missing/file/below', 'missing'])
        await expect(store.get(key)).rejects.toEqual(storeError('not_found', key));
    });

    it('delete is idempotent and takes many keys', async () => {
      await put('gone/a', 'a');
      await put('gone/b', 'b');
      await put('gone/c/d', 'd');
      await store.delete(['gone/a', 'gone/c/d', 'gone/never', 'never/at/all']);
      expect(await keysOf(store, 'gone')).toEqual(['gone/b']);
      await store.delete(['gone/a', 'gone/b/below', 'gone']);
      expect(await keysOf(store, 'gone')).toEqual(['gone/b']);
      await store.delete('gone/b');
      await store.delete([]);
      expect(await keysOf(store, 'gone')).toEqual([]);
    });
  });

  describe('list', () => {
    it('orders keys by their bytes, folders or not', async () => {
      const names = ['Z', 'a-b', 'a.b', 'a/b', 'a/b-c', 'a/c/d', 'a0', 'ab', 'é', '\uff5e', '😀'];
      await Promise.all(names.map((name) => put(`order/${name}`, name)));
      expect(await keysOf(store, 'order/')).toEqual(names.map((name) => `order/${name}`));
    });

    it('takes any string as a prefix', async () => {
      for (const key of ['prefix/one/x', 'prefix/one/y', 'prefix/only', 'prefix/two']) await put(key, key);
      expect(await keysOf(store, 'prefix/on')).toEqual(['prefix/one/x', 'prefix/one/y', 'prefix/only']);
      expect(await keysOf(store, 'prefix/one/')).toEqual(['prefix/one/x', 'prefix/one/y']);
      expect(await keysOf(store, 'prefix/one/x')).toEqual(['prefix/one/x']);
      expect(await keysOf(store, 'prefix/two/')).toEqual([]);
      expect(await keysOf(store, 'nowhere/at/all')).toEqual([]);
      expect(await keysOf(store)).toEqual(expect.arrayContaining(['prefix/two']));
    });

    it('says when an object was written', async () => {
      const before = Date.now();
      await put('when/a', 'x');
      const [entry] = await Array.fromAsync(store.list('when/'));
      // A server's clock may tell whole seconds, and be a little off.
      expect(Math.abs((entry?.modified.getTime() ?? 0) - before)).toBeLessThan(60_000);
    });

    it('names folders in the order of keys, from any of them on', async () => {
      for (const key of ['f/a/1', 'f/a/2', 'f/a-b/1', 'f/a0/x/y', 'f/b/1', 'f/c', 'g/1']) await put(key, 'x');
      const names = (after?: string) => Array.fromAsync(store.folders('f/', after));
      expect(await names()).toEqual(['a-b', 'a', 'a0', 'b']);
      expect(await names('a-b')).toEqual(['a', 'a0', 'b']);
      expect(await names('a')).toEqual(['a0', 'b']);
      expect(await names('a00')).toEqual(['b']);
      expect(await names('b')).toEqual([]);
      expect(await Array.fromAsync(store.folders('nothing/'))).toEqual([]);
    });

    it('pages through more than 1,000 keys and deletes them all', async () => {
      const keys = Array.from({ length: 1_005 }, (_, i) => `many/${String(i).padStart(5, '0')}`);
      const waiting = keys.values();
      const putAll = async () => {
        for (const key of waiting) await put(key, key);
      };
      await Promise.all(Array.from({ length: 16 }, putAll));
      const found: { key: string; size: number }[] = [];
      for await (const { key, size } of store.list('many/')) found.push({ key, size });
      expect(found).toEqual(keys.map((key) => ({ key, size: 10 })));
      await store.delete(keys);
      expect(await keysOf(store, 'many/')).toEqual([]);
    }, 60_000);
  });

  describe('ifNoneMatch', () => {
    it('refuses a key that exists, and keeps what is there', async () => {
      await store.put('once/x', Buffer.from('first'), { ifNoneMatch: '*' });
      const again = store.put('once/x', Buffer.from('second'), { ifNoneMatch: '*' });
      await expect(again).rejects.toEqual(storeError('conflict', 'once/x'));
      expect(await textAt(store, 'once/x')).toBe('first');
    });

    it('lets exactly one of many writers win', async () => {
      const writes = Array.from({ length: 10 }, (_, i) =>
        store.put('once/race', Buffer.from(`writer ${i}`), { ifNoneMatch: '*' }),
      );
      const settled = await Promise.allSettled(writes);
      const lost = settled.filter((result) => result.status === 'rejected');
      expect(lost.map(({ reason }): unknown => reason)).toEqual(
        Array.from({ length: 9 }, () => storeError('conflict', 'once/race')),
      );
      const winner = settled.findIndex((result) => result.status === 'fulfilled');
      expect(await textAt(store, 'once/race')).toBe(`writer ${winner}`);
    });
  });

  describe('a put that fails leaves nothing', () => {
    const size = 12 * mebibyte; // more than one part
    const failing = async (key: string, body: ObjectBody, code: StoreErrorCode, sha256?: string) => {
      const options = sha256 === undefined ? {} : { sha256 };
      await expect(store.put(key, body, options)).rejects.toEqual(storeError(code, key));
      expect(await keysOf(store, key)).toEqual([]);
      expect(await store.head(key)).toBeUndefined();
    };

    it('when the stream is shorter than announced', () =>
      failing('fail/short', { stream: generatedStream(size).stream, size: size + 1 }, 'corrupt'));
    it('when the stream is longer than announced', () =>
      failing('fail/long', { stream: generatedStream(size).stream, size: size - 1 }, 'corrupt'));
    it('when the bytes hash to something else', () =>
      failing('fail/hash', { stream: generatedStream(size).stream, size }, 'corrupt', '0'.repeat(64)));
    it('when few bytes hash to something else', () =>
      failing('fail/small', Buffer.from('few'), 'corrupt', '0'.repeat(64)));
    it('when the file to upload is missing', () =>
      failing('fail/path', { path: join(scratch.path, 'no-such-file') }, 'invalid'));
    it('when the stream breaks', () => {
      const { stream } = generatedStream(size, (index) => {
        if (index === 150) throw new Error('the disk with the snapshot died');
      });
      return failing('fail/broken', { stream, size }, 'invalid');
    });

    it('and keeps the former object', async () => {
      await put('fail/kept', 'former');
      const body = { stream: generatedStream(size).stream, size: size + 1 };
      await expect(store.put('fail/kept', body)).rejects.toEqual(storeError('corrupt'));
      expect(await textAt(store, 'fail/kept')).toBe('former');
    });
  });

  it('shows an object only when it is whole', async () => {
    const size = 12 * mebibyte;
    const { promise: reached, resolve: reach } = Promise.withResolvers<undefined>();
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    const { stream } = generatedStream(size, async (index) => {
      if (index !== 180) return;
      reach(undefined);
      await released;
    });
    const writing = store.put('whole/x', { stream, size });
    await reached;
    expect(await store.head('whole/x')).toBeUndefined();
    expect(await keysOf(store, 'whole')).toEqual([]);
    release(undefined);
    const { sha256 } = await writing;
    expect(await hashOf(await store.get('whole/x'))).toBe(sha256);
  });

  it('shows nothing of a writer killed with SIGKILL', async ({ skip }) => {
    if (fixture.url === undefined) return skip('no other process can open this store');
    const script = resolve(import.meta.dirname, 'stalled-writer.ts');
    const args = [script, fixture.url, 'killed/x', String(20 * mebibyte), String(12 * mebibyte)];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...fixture.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await Promise.race([
      once(child.stdout, 'data'),
      exited.then(() => Promise.reject(new Error('the writer ended by itself'))),
    ]);
    child.kill('SIGKILL');
    await exited;
    expect(await store.head('killed/x')).toBeUndefined();
    expect(await keysOf(store, 'killed')).toEqual([]);
    await put('killed/x', 'the next attempt');
    expect(await textAt(store, 'killed/x')).toBe('the next attempt');
  });

  describe('keys that no store takes', () => {
    it.each([
      [''],
      ['/'],
      ['/etc/passwd'],
      ['a//b'],
      ['a/'],
      ['.'],
      ['..'],
      ['../a'],
      ['a/../b'],
      ['a/..'],
      ['a/./b'],
      ['a\\b'],
      ['a\0b'],
      ['a\nb'],
      ['\ud800'],
      ['x'.repeat(256)],
      [`${'x'.repeat(200)}/`.repeat(6) + 'y'],
    ])('%j', async (key) => {
      const refused = storeError('invalid');
      await expect(put(key, 'x')).rejects.toEqual(refused);
      await expect(store.get(key)).rejects.toEqual(refused);
      await expect(store.head(key)).rejects.toEqual(refused);
      await expect(store.delete([key])).rejects.toEqual(refused);
      await expect(store.presignGet(key, { expiresIn: 60 })).rejects.toEqual(refused);
    });

    it('nor as a prefix, which may also be a key’s beginning', async () => {
      await expect(keysOf(store, '../')).rejects.toEqual(storeError('invalid'));
      await expect(keysOf(store, 'a//')).rejects.toEqual(storeError('invalid'));
      await expect(keysOf(store, '/a')).rejects.toEqual(storeError('invalid'));
    });
  });
}

// Objects in an R2 bucket through a Worker's binding. The binding takes values and no streams of unknown length, so an
// object goes up in pieces of one size, of which one is held in memory. Named as its S3 door names it: runners reach
// the same objects there.
import { Readable } from 'node:stream';
import { measureBody } from './body.ts';
import { checkRange, download, rangeOutside } from './download.ts';
import { StoreProblem } from './error.ts';
import { checkKey, checkPrefix, isAfter, keyProblem } from './keys.ts';
import { r2Error } from './r2-error.ts';
import type { R2Bucket, R2ObjectBody, R2UploadedPart } from './r2-bucket.ts';
import type { ByteRange, ObjectEntry, ObjectStore, PresignOptions, PutOptions } from './store.ts';

export interface R2Options {
  readonly bucket: R2Bucket;
  /** The bucket's name, and the prefix below which everything lies. */
  readonly name: string;
  readonly prefix?: string;
  /** Signs the whole key; without it bytes go through the API. */
  readonly presign?: (key: string, options: PresignOptions) => Promise<string>;
  /** R2 takes 5 MiB at least. */
  readonly partSize?: number;
}

const keysPerDelete = 1000; // R2's limit
const defaultPartSize = 8 << 20;

export function r2Store(options: R2Options): ObjectStore {
  const { bucket, name, prefix = '', presign, partSize = defaultPartSize } = options;
  const base = prefix === '' ? '' : `${prefix}/`;
  const store = `s3://${name}/${prefix}`;

  async function boundary<T>(operation: string, key: string, run: () => Promise<T>): Promise<T> {
    checkKey(store, operation, key);
    try {
      return await run();
    } catch (cause) {
      throw r2Error({ store, operation, key }, cause);
    }
  }

  return {
    put: (key, body, putOptions = {}) =>
      boundary('put', key, async () => {
        const measured = await measureBody(body, putOptions.sha256);
        const target = { bucket, key: base + key, options: putOptions };
        if (measured.size <= partSize) await putWhole(target, measured.chunks, measured.size);
        else await putInParts(target, measured.chunks, partSize);
        return measured.result();
      }),
    get: (key, { range } = {}) =>
      boundary('get', key, async () => {
        checkRange(range);
        const found = await getObject(bucket, base + key, range);
        const size = bytesOf(found, range);
        const source = Readable.fromWeb(found.body as Parameters<typeof Readable.fromWeb>[0]);
        return download(source, size, (cause) => r2Error({ store, operation: 'get', key }, cause));
      }),
    head: (key) =>
      boundary('head', key, async () => {
        const found = await bucket.head(base + key);
        return found === null ? undefined : { size: found.size };
      }),
    async *list(keyPrefix): AsyncGenerator<ObjectEntry, void, undefined> {
      checkPrefix(store, keyPrefix);
      try {
        yield* listObjects(bucket, base, keyPrefix);
      } catch (cause) {
        throw r2Error({ store, operation: 'list', key: keyPrefix }, cause);
      }
    },
    async *folders(keyPrefix, after): AsyncGenerator<string, void, undefined> {
      checkPrefix(store, keyPrefix);
      try {
        yield* listFolders(bucket, base + keyPrefix, after);
      } catch (cause) {
        throw r2Error({ store, operation: 'list', key: keyPrefix }, cause);
      }
    },
    async *unfinished() {
      // The binding does not list them; R2 gives up uploads in parts by itself, seven days after they began.
    },
    async delete(keys) {
      const all = typeof keys === 'string' ? [keys] : keys;
      for (const key of all) checkKey(store, 'delete', key);
      for (let at = 0; at < all.length; at += keysPerDelete) {
        const batch = all.slice(at, at + keysPerDelete);
        await boundary('delete', batch[0] ?? '', () => bucket.delete(batch.map((key) => base + key)));
      }
    },
    presignGet: (key, presignOptions) =>
      boundary('presign', key, async () => presign?.(base + key, presignOptions)),
    describe: () => store,
  };
}

interface Target {
  readonly bucket: R2Bucket;
  readonly key: string;
  readonly options: PutOptions;
}

type Chunks = AsyncIterable<Uint8Array>;

const metadata = ({ contentType }: PutOptions) =>
  contentType === undefined ? {} : { httpMetadata: { contentType } };

const exists = (): StoreProblem => new StoreProblem('conflict', 'an object with this key exists already');

async function putWhole({ bucket, key, options }: Target, chunks: Chunks, size: number): Promise<void> {
  const bytes = new Uint8Array(size);
  let filled = 0;
  for await (const chunk of chunks) {
    bytes.set(chunk, filled);
    filled += chunk.byteLength;
  }
  const onlyIf = options.ifNoneMatch === undefined ? {} : { onlyIf: { etagDoesNotMatch: '*' as const } };
  if ((await bucket.put(key, bytes, { ...metadata(options), ...onlyIf })) === null) throw exists();
}

/** Parts but the last have one size, as R2 demands. The object appears when all of them are joined. */
async function putInParts({ bucket, key, options }: Target, chunks: Chunks, partSize: number): Promise<void> {
  const refuseExisting = async (): Promise<void> => {
    if (options.ifNoneMatch !== undefined && (await bucket.head(key)) !== null) throw exists();
  };
  await refuseExisting();
  const upload = await bucket.createMultipartUpload(key, metadata(options));
  try {
    const parts: R2UploadedPart[] = [];
    for await (const part of inParts(chunks, partSize))
      parts.push(await upload.uploadPart(parts.length + 1, part));
    await refuseExisting();
    await upload.complete(parts);
  } catch (cause) {
    await upload.abort().catch(() => undefined);
    throw cause;
  }
}

async function* inParts(chunks: Chunks, partSize: number): AsyncGenerator<Uint8Array, void, undefined> {
  let part = new Uint8Array(partSize);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength;) {
      const taken = chunk.subarray(at, at + partSize - filled);
      part.set(taken, filled);
      filled += taken.byteLength;
      at += taken.byteLength;
      if (filled < partSize) continue;
      yield part;
      part = new Uint8Array(partSize);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

const offsetAndLength = ({ start, end }: ByteRange) =>
  end === undefined ? { offset: start } : { offset: start, length: end - start + 1 };

/** A range beyond the end is an error of R2 that not every one of its versions names: then the size says it. */
async function getObject(bucket: R2Bucket, key: string, range: ByteRange | undefined): Promise<R2ObjectBody> {
  const missing = () => new StoreProblem('not_found', 'there is no such object');
  try {
    const found = await bucket.get(key, range && { range: offsetAndLength(range) });
    if (found === null) throw missing();
    return found;
  } catch (cause) {
    if (range === undefined || cause instanceof StoreProblem) throw cause;
    const found = await bucket.head(key);
    if (found !== null && range.start >= found.size) throw rangeOutside(range);
    throw cause;
  }
}

/** How many bytes come. */
function bytesOf({ size }: R2ObjectBody, range: ByteRange | undefined): number {
  if (range === undefined) return size;
  if (range.start >= size) throw rangeOutside(range);
  return Math.min(range.end ?? size - 1, size - 1) - range.start + 1;
}

type R2Page = Awaited<ReturnType<R2Bucket['list']>>;

async function* pages(
  bucket: R2Bucket,
  options: Omit<Parameters<R2Bucket['list']>[0], 'cursor'>,
): AsyncGenerator<R2Page, void, undefined> {
  for (let cursor: string | undefined; ;) {
    const page = await bucket.list({ ...options, ...(cursor !== undefined && { cursor }) });
    yield page;
    if (!page.truncated) return;
    cursor = page.cursor;
  }
}

async function* listObjects(
  bucket: R2Bucket,
  base: string,
  prefix: string,
): AsyncGenerator<ObjectEntry, void, undefined> {
  for await (const { objects } of pages(bucket, { prefix: base + prefix }))
    for (const { key, size, uploaded } of objects) {
      const ours = key.slice(base.length);
      if (keyProblem(ours) === undefined) yield { key: ours, size, modified: uploaded };
    }
}

async function* listFolders(
  bucket: R2Bucket,
  prefix: string,
  after: string | undefined,
): AsyncGenerator<string, void, undefined> {
  // 0 is what follows the slash: all keys of the folder lie before it.
  const from = after === undefined ? {} : { startAfter: `${prefix}${after}0` };
  for await (const { delimitedPrefixes } of pages(bucket, { prefix, delimiter: '/', ...from }))
    for (const folder of delimitedPrefixes) {
      const name = folder.slice(prefix.length, -1);
      if (keyProblem(name) === undefined && isAfter(name, after)) yield name;
    }
}

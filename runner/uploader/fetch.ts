// From the store to scratch: whole files, hashed on the way, under a temporary name until they are right.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { manifest as manifestSchema, manifestName } from '../../api/contract/checkpoint.ts';
import type { Manifest } from '../../api/contract/checkpoint.ts';
import type { ClaimedCheckpoint } from '../../api/contract/runner.ts';
import type { ObjectStore } from '../../store/store.ts';
import type { TransferContext } from './context.ts';
import { TransferFailure } from './failure.ts';
import { retrying } from './retry.ts';

interface Expected {
  /** Undefined where nobody wrote it down. */
  readonly size?: number;
  readonly sha256?: string;
}

/** Throws `scratch_full` with path and figures where `bytes` do not fit. */
async function checkSpace(dir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  if (free >= bytes) return;
  const advice = 'free some space or point MILLRACE_SCRATCH at a larger disk';
  throw new TransferFailure(
    'scratch_full',
    `${dir}: ${bytes} bytes are to be fetched, ${free} are free: ${advice}`,
  );
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }))
    hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

const bytesOf = (files: readonly { readonly size: number }[]): number =>
  files.reduce((sum, { size }) => sum + size, 0);

/** Whether a former try has brought this file already. */
async function isComplete(file: string, { size, sha256 }: Expected): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || sha256 === undefined) return false;
  return found.size === size && (await sha256Of(file)) === sha256;
}

async function download(
  store: ObjectStore,
  key: string,
  file: string,
): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  const measure = new Transform({
    transform(chunk: Uint8Array, _, done) {
      hash.update(chunk);
      size += chunk.byteLength;
      done(null, chunk);
    },
  });
  await pipeline(await store.get(key), measure, createWriteStream(file));
  return { size, sha256: hash.digest('hex') };
}

/** Brings one object to `file`; memory is bounded. Throws TransferFailure or StoreError, and leaves no half file. */
export async function fetchFile(
  { patience }: Pick<TransferContext, 'patience'>,
  store: ObjectStore,
  key: string,
  expected: Expected,
  file: string,
): Promise<void> {
  if (await isComplete(file, expected)) return;
  await mkdir(dirname(file), { recursive: true });
  const partial = join(dirname(file), `.${basename(file)}.part`);
  try {
    await retrying(patience, async () => {
      const found = await download(store, key, partial);
      const where = `${store.describe()}: ${key}`;
      if (expected.size !== undefined && found.size !== expected.size) {
        throw new TransferFailure('corrupt', `${where}: has ${found.size} bytes, expected ${expected.size}`);
      }
      if (expected.sha256 !== undefined && found.sha256 !== expected.sha256) {
        throw new TransferFailure(
          'corrupt',
          `${where}: its SHA-256 is ${found.sha256}, expected ${expected.sha256}`,
        );
      }
    });
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}

function parseManifest(text: string, where: string): Manifest {
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new TransferFailure('corrupt', `${where}: malformed manifest: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/**
 * A committed checkpoint into `dir`, every hash checked; its manifest comes into place last. Of the `model` alone what only training
 * goes on from stays behind, and so does the manifest, which would promise it.
 */
export async function fetchCheckpoint(
  context: TransferContext,
  checkpoint: ClaimedCheckpoint,
  dir: string,
  part?: 'model',
): Promise<void> {
  const { store } = context;
  const wanted = ({ name }: { readonly name: string }): boolean => part === undefined || !name.includes('/');
  await mkdir(dir, { recursive: true });
  await checkSpace(dir, part === undefined ? checkpoint.size : bytesOf(checkpoint.files.filter(wanted)));
  const key = `${checkpoint.prefix}${manifestName}`;
  const incoming = join(dir, `.${manifestName}`);
  await fetchFile(context, store, key, { sha256: checkpoint.manifest_sha256 }, incoming);
  const { files } = parseManifest(await readFile(incoming, 'utf8'), `${store.describe()}: ${key}`);
  for (const file of files.filter(wanted)) {
    await fetchFile(context, store, `${checkpoint.prefix}${file.name}`, file, join(dir, file.name));
  }
  if (part === undefined) await rename(incoming, join(dir, manifestName));
  else await rm(incoming);
}

const modelFile =
  /^(?:config|generation_config|tokenizer|tokenizer_config|special_tokens_map)\.json$|^chat_template\.jinja$|\.safetensors(?:\.index\.json)?$/;

/** Splits s3://bucket/a/b into the store s3://bucket and the prefix a/b/. */
function splitUri(uri: string): { bucket: string; prefix: string } {
  const match = /^(s3:\/\/[^/]+)\/*(.*?)\/*$/.exec(uri);
  if (match === null) throw new TransferFailure('missing', `${uri}: not an s3:// URI of a model directory`);
  return { bucket: match[1]!, prefix: match[2] === '' ? '' : `${match[2]}/` };
}

/** The model files right below an s3: URI; sizes are compared, hashes nobody wrote down. */
export async function fetchModel(context: TransferContext, uri: string, dir: string): Promise<void> {
  const { bucket, prefix } = splitUri(uri);
  const store = context.openOther(bucket);
  const found = await retrying(context.patience, async () => {
    const entries = [];
    for await (const entry of store.list(prefix)) {
      if (modelFile.test(entry.key.slice(prefix.length))) entries.push(entry);
    }
    return entries;
  });
  if (found.length === 0)
    throw new TransferFailure('missing', `${uri}: holds no model file such as config.json`);
  await mkdir(dir, { recursive: true });
  await checkSpace(dir, bytesOf(found));
  for (const { key, size } of found) {
    await fetchFile(context, store, key, { size }, join(dir, key.slice(prefix.length)));
  }
}

/** One object such as a dataset, with the scratch space checked first. */
export async function fetchObject(
  context: TransferContext,
  object: { readonly key: string; readonly size: number; readonly sha256: string },
  file: string,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await checkSpace(dirname(file), object.size);
  await fetchFile(context, context.store, object.key, object, file);
}

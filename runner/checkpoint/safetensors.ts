// Safetensors files in and out: F32, BF16 and F16 become float32 on read, and float32 any of them on write.
// Knows no model: a file is a map from names to shaped float arrays. Data moves in bounded pieces,
// since one tensor may be larger than what one read call or one Buffer can take.

import { createHash } from 'node:crypto';
import { open, readFile, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { bytesPerElement, elementCount, headerLength, parseHeader } from './safetensors-header.ts';
import type { StoredDType, TensorEntry } from './safetensors-header.ts';
import { f16Overflow, narrowBf16, narrowF16, widenBf16, widenF16 } from './safetensors-halves.ts';

export interface NamedTensor {
  readonly dtype: 'float32';
  readonly shape: readonly number[];
  readonly data: Float32Array<ArrayBuffer>;
}

export interface WrittenFile {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

const pieceBytes = 4 << 20;

async function readExactly(
  handle: FileHandle,
  into: Uint8Array,
  position: number,
  file: string,
): Promise<void> {
  for (let done = 0; done < into.byteLength;) {
    const { bytesRead } = await handle.read(
      into,
      done,
      Math.min(pieceBytes, into.byteLength - done),
      position + done,
    );
    if (bytesRead === 0)
      throw new Error(`${file}: truncated: ended at byte ${position + done} while being read`);
    done += bytesRead;
  }
}

async function readEntry(handle: FileHandle, entry: TensorEntry, file: string): Promise<NamedTensor> {
  const data = new Float32Array(elementCount(entry.shape));
  if (entry.storedDType === 'F32') {
    await readExactly(handle, new Uint8Array(data.buffer), entry.begin, file);
  } else {
    const widen = entry.storedDType === 'BF16' ? widenBf16 : widenF16;
    const piece = new Uint16Array(Math.min(data.length, pieceBytes / 2));
    for (let done = 0; done < data.length; done += piece.length) {
      const halves = piece.subarray(0, Math.min(piece.length, data.length - done));
      await readExactly(
        handle,
        new Uint8Array(halves.buffer, 0, halves.byteLength),
        entry.begin + 2 * done,
        file,
      );
      widen(halves, data.subarray(done, done + halves.length));
    }
  }
  return { dtype: 'float32', shape: entry.shape, data };
}

async function openForReading(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r');
  } catch (cause) {
    throw new Error(`${file}: cannot open the model file: ${(cause as Error).message}`, { cause });
  }
}

/** All tensors of one file, in file order. Throws with file, tensor and offsets on anything malformed or truncated. */
export async function readSafetensors(file: string): Promise<Map<string, NamedTensor>> {
  const handle = await openForReading(file);
  try {
    return await readAll(handle, file);
  } finally {
    await handle.close();
  }
}

async function readAll(handle: FileHandle, file: string): Promise<Map<string, NamedTensor>> {
  const tensors = new Map<string, NamedTensor>();
  for (const entry of await readEntries(handle, file)) {
    tensors.set(entry.name, await readEntry(handle, entry, file));
  }
  return tensors;
}

async function readEntries(handle: FileHandle, file: string): Promise<TensorEntry[]> {
  const { size } = await handle.stat();
  const prefix = new Uint8Array(Math.min(8, size));
  await readExactly(handle, prefix, 0, file);
  const header = new Uint8Array(headerLength(prefix, file, size));
  await readExactly(handle, header, 8, file);
  return parseHeader(header, file, size);
}

const shardIndex = z.object({ weight_map: z.record(z.string(), z.string()) });

/** Tensors, each with the shard that holds it. */
async function readOwners(indexFile: string): Promise<[name: string, shard: string][]> {
  const index = shardIndex.safeParse(parseJson(await readFile(indexFile, 'utf8'), indexFile));
  if (!index.success) throw new Error(`${indexFile}: malformed shard index: ${z.prettifyError(index.error)}`);
  const owners = Object.entries(index.data.weight_map);
  const strange = owners.find(([, shard]) => basename(shard) !== shard)?.[1];
  if (strange !== undefined) throw new Error(`${indexFile}: shard "${strange}" is not a plain file name`);
  return owners;
}

async function readShards(indexFile: string, directory: string): Promise<Map<string, NamedTensor>> {
  const tensors = new Map<string, NamedTensor>();
  const owners = await readOwners(indexFile);
  const ownerOf = new Map(owners);
  for (const shard of new Set(owners.map(([, owner]) => owner))) {
    const held = await readSafetensors(join(directory, shard));
    for (const [name] of owners.filter(([, owner]) => owner === shard)) {
      const tensor = held.get(name);
      if (tensor === undefined)
        throw new Error(`${indexFile}: names tensor "${name}" in ${shard}, which does not hold it`);
      tensors.set(name, tensor);
      held.delete(name);
    }
    // A loader that reads whole shards would take them: which of two tensors is meant, or whether one is, nobody could say.
    const [unnamed] = held.keys();
    if (unnamed !== undefined) {
      const owner = ownerOf.get(unnamed);
      const says = owner === undefined ? 'does not name' : `says to be in ${owner}`;
      throw new Error(`${join(directory, shard)}: holds tensor "${unnamed}", which the index ${says}`);
    }
  }
  return tensors;
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${file}: not JSON: ${(cause as Error).message}`, { cause });
  }
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}

/** `model.safetensors` of a model directory in HF layout, or the index of its shards. */
async function weightsFile(directory: string): Promise<{ file: string; isIndex: boolean }> {
  const file = join(directory, 'model.safetensors');
  if (await exists(file)) return { file, isIndex: false };
  const index = `${file}.index.json`;
  if (await exists(index)) return { file: index, isIndex: true };
  throw new Error(`${directory}: holds neither model.safetensors nor model.safetensors.index.json`);
}

/** Weights of a model directory in HF layout: `model.safetensors`, or shards named by `model.safetensors.index.json`. */
export async function readModelWeights(directory: string): Promise<Map<string, NamedTensor>> {
  const { file, isIndex } = await weightsFile(directory);
  return isIndex ? await readShards(file, directory) : await readSafetensors(file);
}

/** Shapes of the same by name, from the headers alone: what is missing or cut short is found without reading weights. */
export async function readModelShapes(directory: string): Promise<Map<string, readonly number[]>> {
  const { file, isIndex } = await weightsFile(directory);
  const shards = isIndex
    ? new Set((await readOwners(file)).map(([, shard]) => join(directory, shard)))
    : [file];
  const shapes = new Map<string, readonly number[]>();
  for (const shard of shards) {
    const handle = await openForReading(shard);
    try {
      for (const { name, shape } of await readEntries(handle, shard)) shapes.set(name, shape);
    } finally {
      await handle.close();
    }
  }
  return shapes;
}

/** Tensors to write, by name. */
export type NamedArrays = ReadonlyMap<string, Omit<NamedTensor, 'dtype'>>;

function headerBytes(tensors: NamedArrays, dtype: StoredDType, file: string): Uint8Array {
  // "format: pt" is what transformers demands before it loads a file.
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let begin = 0;
  for (const [name, { shape, data }] of tensors) {
    if (elementCount(shape) !== data.length) {
      throw new Error(
        `${file}: tensor "${name}": shape [${shape.join(', ')}] does not hold ${data.length} elements`,
      );
    }
    if (Object.hasOwn(header, name)) throw new Error(`${file}: tensor "${name}" is given twice`);
    const end = begin + data.length * bytesPerElement[dtype];
    header[name] = { dtype, shape, data_offsets: [begin, end] };
    begin = end;
  }
  const json = JSON.stringify(header);
  const padding = -Buffer.byteLength(json) & 7;
  return new TextEncoder().encode(json + ' '.repeat(padding));
}

/** A weight that would turn into infinity is no rounding. */
function checkRange(tensors: NamedArrays, file: string): void {
  for (const [name, { data }] of tensors) {
    const at = data.findIndex((value) => Number.isFinite(value) && Math.abs(value) >= f16Overflow);
    if (at >= 0)
      throw new Error(
        `${file}: tensor "${name}": element ${at} is ${data[at]}, F16 ends at 65504: write BF16`,
      );
  }
}

/** The bytes of a tensor's data, in pieces. A piece may be overwritten by the next. */
function* encoded(data: Float32Array<ArrayBuffer>, dtype: StoredDType): Iterable<Uint8Array> {
  const step = pieceBytes / 4;
  const halves = new Uint16Array(dtype === 'F32' ? 0 : Math.min(step, data.length));
  const narrow = dtype === 'BF16' ? narrowBf16 : narrowF16;
  for (let begin = 0; begin < data.length; begin += step) {
    const part = data.subarray(begin, begin + step);
    if (dtype !== 'F32') narrow(part, halves);
    const piece = dtype === 'F32' ? part : halves.subarray(0, part.length);
    yield new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);
  }
}

async function writeAll(
  handle: FileHandle,
  tensors: NamedArrays,
  dtype: StoredDType,
  file: string,
): Promise<WrittenFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  const write = async (piece: Uint8Array): Promise<void> => {
    hash.update(piece);
    await handle.writeFile(piece);
    bytes += piece.byteLength;
  };
  if (dtype === 'F16') checkRange(tensors, file);
  const header = headerBytes(tensors, dtype, file);
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(header.byteLength), true);
  await write(length);
  await write(header);
  for (const [, { data }] of tensors) for (const piece of encoded(data, dtype)) await write(piece);
  await handle.sync();
  return { bytes, sha256: hash.digest('hex') };
}

/**
 * Writes tensors in the given order, rounded to `dtype`, hashing what it writes, and flushes to disk before it returns.
 * An existing file is replaced. Throws, naming the tensor, where a finite value has no finite F16.
 */
export async function writeSafetensors(
  file: string,
  tensors: NamedArrays,
  dtype: StoredDType = 'F32',
): Promise<WrittenFile> {
  const handle = await open(file, 'w');
  try {
    return await writeAll(handle, tensors, dtype, file);
  } finally {
    await handle.close();
  }
}

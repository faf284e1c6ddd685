// The header of a safetensors file: parsed and checked against the file's size before a byte of data is read.
// Layout (huggingface/safetensors, "Format"): 8 bytes little-endian header length, JSON header, raw tensors.
// A header is foreign input: nothing in it is believed, and every complaint names file, tensor and offsets.

import { z } from 'zod';

export const bytesPerElement = { F32: 4, BF16: 2, F16: 2 } as const;

/** Element types that we read, each becoming float32, and write. */
export type StoredDType = keyof typeof bytesPerElement;

export interface TensorEntry {
  readonly name: string;
  readonly storedDType: StoredDType;
  readonly shape: readonly number[];
  /** Bytes, from the start of the file. */
  readonly begin: number;
  readonly end: number;
}

/** Same limit as the reference implementation: a larger length is a corrupt or hostile file. */
export const maxHeaderBytes = 100_000_000;

const tensorInfo = z.object({
  dtype: z.string(),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});

/** Number of elements of a shape; 1 for a scalar. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1);
}

/** Length of the JSON header, from the file's first 8 bytes. */
export function headerLength(prefix: Uint8Array, file: string, fileSize: number): number {
  if (prefix.byteLength < 8) {
    throw new Error(`${file}: truncated: ${fileSize} bytes, a safetensors file has at least 8`);
  }
  const length = new DataView(prefix.buffer, prefix.byteOffset, 8).getBigUint64(0, true);
  if (length > BigInt(maxHeaderBytes)) {
    throw new Error(`${file}: header length ${length} exceeds ${maxHeaderBytes}: not a safetensors file`);
  }
  if (length > BigInt(fileSize - 8)) {
    throw new Error(
      `${file}: truncated: the header needs ${length} bytes, the file has ${fileSize - 8} after its length field`,
    );
  }
  return Number(length);
}

function parseEntry(name: string, value: unknown, file: string, dataBegin: number): TensorEntry {
  const parsed = tensorInfo.safeParse(value);
  if (!parsed.success) {
    throw new Error(`${file}: tensor "${name}": malformed header entry: ${z.prettifyError(parsed.error)}`);
  }
  const {
    dtype,
    shape,
    data_offsets: [begin, end],
  } = parsed.data;
  if (!Object.hasOwn(bytesPerElement, dtype)) {
    throw new Error(
      `${file}: tensor "${name}": dtype ${dtype} is not supported (${Object.keys(bytesPerElement).join(', ')} are)`,
    );
  }
  const storedDType = dtype as StoredDType;
  const needed = elementCount(shape) * bytesPerElement[storedDType];
  if (end - begin !== needed) {
    throw new Error(
      `${file}: tensor "${name}": offsets ${begin}..${end} hold ${end - begin} bytes, ${dtype} [${shape.join(', ')}] needs ${needed}`,
    );
  }
  return { name, storedDType, shape, begin: dataBegin + begin, end: dataBegin + end };
}

/** Tensors must tile the data section exactly: no overlap, no hole, no missing tail. */
function checkTiling(
  entries: readonly TensorEntry[],
  file: string,
  dataBegin: number,
  fileSize: number,
): void {
  let expected = dataBegin;
  for (const entry of [...entries].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (entry.begin !== expected) {
      throw new Error(
        `${file}: tensor "${entry.name}": begins at byte ${entry.begin}, expected ${expected} (${entry.begin < expected ? 'overlap' : 'hole'})`,
      );
    }
    if (entry.end > fileSize) {
      throw new Error(
        `${file}: truncated: tensor "${entry.name}" lies at bytes ${entry.begin}..${entry.end}, the file ends at ${fileSize}`,
      );
    }
    expected = entry.end;
  }
  if (expected !== fileSize) {
    throw new Error(
      `${file}: ${fileSize - expected} bytes after the last tensor (byte ${expected}) belong to no tensor`,
    );
  }
}

/**
 * Entries of a header in file order.
 * Throws on malformed JSON, unsupported dtypes, and offsets that do not match shapes or the file's size.
 */
export function parseHeader(header: Uint8Array, file: string, fileSize: number): TensorEntry[] {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(header));
  } catch (cause) {
    throw new Error(`${file}: the header is not JSON: not a safetensors file`, { cause });
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new Error(`${file}: the header is not a JSON object: not a safetensors file`);
  }
  const dataBegin = 8 + header.byteLength;
  const entries = Object.entries(json)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, value]) => parseEntry(name, value, file, dataBegin));
  checkTiling(entries, file, dataBegin, fileSize);
  return entries;
}

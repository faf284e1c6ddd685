// Safetensors files and model directories, read by the formats' descriptions: shares nothing with our reader.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

export type Half = 'BF16' | 'F16';

/** The value of 16 bits, from the formats' definitions. */
export function valueOf(bits: number, dtype: Half): number {
  const [exponentBits, fractionBits] = dtype === 'BF16' ? [8, 7] : [5, 10];
  const bias = 2 ** (exponentBits - 1) - 1;
  const exponent = (bits >> fractionBits) & (2 ** exponentBits - 1);
  const fraction = (bits & (2 ** fractionBits - 1)) / 2 ** fractionBits;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 2 ** exponentBits - 1) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** (1 - bias) : sign * (1 + fraction) * 2 ** (exponent - bias);
}

export interface FileTensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: Float64Array;
}

/** A safetensors file by its description: length, JSON, data. */
export async function independentRead(file: string): Promise<Map<string, FileTensor>> {
  const bytes = await readFile(file);
  const begin = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, begin)) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const tensors = new Map<string, FileTensor>();
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const size = dtype === 'F32' ? 4 : 2;
    const at = (i: number): number => begin + data_offsets[0] + i * size;
    const data = Float64Array.from({ length: (data_offsets[1] - data_offsets[0]) / size }, (_, i) =>
      dtype === 'F32' ? bytes.readFloatLE(at(i)) : valueOf(bytes.readUInt16LE(at(i)), dtype as Half),
    );
    tensors.set(name, { dtype, shape, data });
  }
  return tensors;
}

interface ShardIndex {
  readonly metadata: { readonly total_size: number };
  readonly weight_map: Readonly<Record<string, string>>;
}

/** All of a directory by its index, or of its one file; the owner of each as the index names it. */
export async function independentModel(dir: string): Promise<{
  tensors: Map<string, FileTensor>;
  index: ShardIndex | undefined;
  files: string[];
}> {
  const names = (await readdir(dir)).sort();
  const files = names.filter((name) => name.endsWith('.safetensors'));
  const tensors = new Map<string, FileTensor>();
  const indexName = names.find((name) => name.endsWith('.index.json'));
  const index =
    indexName === undefined
      ? undefined
      : (JSON.parse(await readFile(join(dir, indexName), 'utf8')) as ShardIndex);
  for (const file of files)
    for (const [name, tensor] of await independentRead(join(dir, file))) {
      expect(tensors.has(name), `${name} twice`).toBe(false);
      if (index) expect(index.weight_map[name], name).toBe(file);
      tensors.set(name, tensor);
    }
  return { tensors, index, files };
}

// A model's weights in Hugging Face layout, whole or in shards with an index, and a directory that loads elsewhere as it is.
// Knows no model: whoever gives the tensors gives tied ones once.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configOfDType } from './model-files.ts';
import type { ModelFiles } from './model-files.ts';
import { bytesPerElement } from './safetensors-header.ts';
import type { StoredDType } from './safetensors-header.ts';
import { writeSafetensors } from './safetensors.ts';
import type { NamedArrays, NamedTensor } from './safetensors.ts';

export interface ListedFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface StoredForm {
  /** Float32 where it is not given. */
  readonly dtype?: StoredDType;
  /** Most bytes of tensors in one file, except where one tensor alone has more. */
  readonly shardBytes?: number;
}

/** As the hub cuts them; object stores take no larger file in one request. */
const defaultShardBytes = 5e9;

/** Writes a file, flushed to disk. */
export async function writeText(dir: string, name: string, text: string): Promise<ListedFile> {
  const bytes = Buffer.from(text);
  await writeFile(join(dir, name), bytes, { flush: true });
  return { name, size: bytes.byteLength, sha256: createHash('sha256').update(bytes).digest('hex') };
}

export async function writeArrays(
  dir: string,
  name: string,
  arrays: NamedArrays,
  dtype: StoredDType = 'F32',
): Promise<ListedFile> {
  const { bytes, sha256 } = await writeSafetensors(join(dir, name), arrays, dtype);
  return { name, size: bytes, sha256 };
}

/** In the given order, each shard as full as it can be. */
function shardsOf(weights: NamedArrays, elementBytes: number, shardBytes: number): NamedArrays[] {
  const shards: Map<string, Omit<NamedTensor, 'dtype'>>[] = [];
  let filled = Infinity;
  for (const [name, tensor] of weights) {
    const bytes = tensor.data.length * elementBytes;
    if (filled + bytes > shardBytes) {
      shards.push(new Map());
      filled = 0;
    }
    shards.at(-1)!.set(name, tensor);
    filled += bytes;
  }
  return shards;
}

/**
 * `model.safetensors`, or `model-00001-of-0000N.safetensors` and their index, into a directory that holds no weights.
 * Returns the files written, the index last. Values are rounded to the nearest of `dtype`.
 */
export async function writeModelWeights(
  dir: string,
  weights: NamedArrays,
  { dtype = 'F32', shardBytes = defaultShardBytes }: StoredForm = {},
): Promise<ListedFile[]> {
  if (weights.size === 0) throw new Error(`${dir}: there are no weights to write`);
  const shards = shardsOf(weights, bytesPerElement[dtype], shardBytes);
  if (shards.length === 1) return [await writeArrays(dir, 'model.safetensors', weights, dtype)];
  const five = (n: number): string => String(n).padStart(5, '0');
  const files: ListedFile[] = [];
  const owners: Record<string, string> = {};
  let elements = 0;
  for (const [i, shard] of shards.entries()) {
    const name = `model-${five(i + 1)}-of-${five(shards.length)}.safetensors`;
    files.push(await writeArrays(dir, name, shard, dtype));
    for (const [tensor, { data }] of shard) {
      owners[tensor] = name;
      elements += data.length;
    }
  }
  const index = { metadata: { total_size: elements * bytesPerElement[dtype] }, weight_map: owners };
  files.push(await writeText(dir, 'model.safetensors.index.json', `${JSON.stringify(index, null, 2)}\n`));
  return files;
}

/** The small files beside weights of type `dtype`, which the configuration names. */
export async function writeModelFiles(
  dir: string,
  modelFiles: ModelFiles,
  dtype: StoredDType = 'F32',
): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  for (const [name, text] of modelFiles) {
    const content = name === 'config.json' ? configOfDType(text, dtype) : text;
    files.push(await writeText(dir, name, content));
  }
  return files;
}

/**
 * Weights and the small files beside them, into a directory that holds no model. The configuration names the type that is
 * written.
 */
export async function writeModel(
  dir: string,
  { weights, modelFiles }: { readonly weights: NamedArrays; readonly modelFiles: ModelFiles },
  form: StoredForm = {},
): Promise<ListedFile[]> {
  const files = await writeModelWeights(dir, weights, form);
  return [...files, ...(await writeModelFiles(dir, modelFiles, form.dtype))];
}

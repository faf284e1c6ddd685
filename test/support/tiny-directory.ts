// A random tiny model as a directory in Hugging Face layout: two layers, one token per character.
import { mkdir } from 'node:fs/promises';
import type { ModelFileName } from '../../runner/checkpoint/model-files.ts';
import type { ListedFile } from '../../runner/checkpoint/write-model.ts';
import { writeModel } from '../../runner/checkpoint/write-model.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import { tinyInit } from './tiny-policy.ts';

export interface TinyDirectory {
  /** Tokens of prompt and answer together. */
  readonly positions?: number;
  /** Further files, or others in place of the model's own. */
  readonly files?: Readonly<Partial<Record<ModelFileName, string>>>;
  readonly seed?: number;
  /** Fields of config.json in place of the tiny model's. */
  readonly config?: Readonly<Partial<Record<'intermediate_size' | 'num_hidden_layers', number>>>;
}

/** The id of the token that ends an answer. */
export const tinyEnd = 1;

/** Makes the directory; its files with size and hash. */
export async function writeTinyDirectory(
  directory: string,
  { positions = 128, files = {}, seed = 1, config: changes = {} }: TinyDirectory = {},
): Promise<ListedFile[]> {
  const config = { ...tinyInit.config, ...changes, max_position_embeddings: positions };
  const model = await loadModel({ ...tinyInit, config }, { datasets: {} }, seed);
  await mkdir(directory, { recursive: true });
  const weights = new Map(
    [...model.weights].map(([name, { shape, data }]) => [name, { dtype: 'float32' as const, shape, data }]),
  );
  const modelFiles = new Map([...model.files, ...(Object.entries(files) as [ModelFileName, string][])]);
  return writeModel(directory, { weights, modelFiles });
}

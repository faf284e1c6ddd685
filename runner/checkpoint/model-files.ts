// The small files beside the weights in Hugging Face layout: carried from the model that training started with
// into every checkpoint, so that a checkpoint loads elsewhere as it is.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredDType } from './safetensors-header.ts';

export const modelFileNames = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
] as const;
export type ModelFileName = (typeof modelFileNames)[number];

/** File contents by name; config.json is always there. */
export type ModelFiles = ReadonlyMap<ModelFileName, string>;

/** Those of the files that the directory has; which of them are needed is for their readers to say. */
export async function readModelFiles(dir: string): Promise<Map<ModelFileName, string>> {
  const files = new Map<ModelFileName, string>();
  for (const name of modelFileNames) {
    try {
      files.set(name, await readFile(join(dir, name), 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return files;
}

/** One of the files as JSON. Throws naming the file of `dir` that is missing or no JSON. */
export function parseModelFile(files: ModelFiles, name: ModelFileName, dir: string): unknown {
  const file = join(dir, name);
  const text = files.get(name);
  if (text === undefined)
    throw new Error(
      `${file}: there is no such file; a model directory holds config.json, tokenizer.json and *.safetensors`,
    );
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${file}: not JSON: ${(cause as Error).message}`, { cause });
  }
}

const dtypeNames = { F32: 'float32', BF16: 'bfloat16', F16: 'float16' } as const;

/** The config with the element type that is written: a loader that trusts it must not round float32 weights. */
export function configOfDType(configJson: string, dtype: StoredDType): string {
  const config = JSON.parse(configJson) as Record<string, unknown>;
  const key = 'dtype' in config ? 'dtype' : 'torch_dtype';
  return `${JSON.stringify({ ...config, [key]: dtypeNames[dtype] }, null, 2)}\n`;
}

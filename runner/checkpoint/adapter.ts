// LoRA adapters in PEFT's layout: `adapter_model.safetensors` and `adapter_config.json`, which PEFT and vLLM load as they are.
// Knows no model: which layers it has is for the engine to compare.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAdapterConfig, peftConfig } from './adapter-config.ts';
import type { AdapterConfig } from './adapter-config.ts';
import { readSafetensors } from './safetensors.ts';
import type { NamedArrays, NamedTensor } from './safetensors.ts';
import { writeArrays, writeText } from './write-model.ts';
import type { ListedFile } from './write-model.ts';

/**
 * Where a checkpoint keeps its adapters. Not beside model.safetensors: transformers, finding adapter_config.json there, would
 * load the base that it names in place of the model.
 */
export const adapterFolder = 'adapter';

const weightsName = 'adapter_model.safetensors';
const configName = 'adapter_config.json';

/** The prefix is PEFT's wrapper around the model: a file without it would load as an adapter that does nothing. */
const keyPattern = /^base_model\.model\.(?:.+\.)?([^.]+)\.lora_([AB])\.weight$/;

export interface StoredAdapter {
  readonly config: AdapterConfig;
  /** By PEFT's names: A is [r,in], B is [out,r]. */
  readonly tensors: NamedArrays;
}

/** Throws, naming the tensor, where names, shapes and configuration do not agree. */
function checkTensors({ config, tensors }: StoredAdapter, source: string): void {
  const found = new Set<string>();
  for (const [name, { shape }] of tensors) {
    const [, module, side] = keyPattern.exec(name) ?? [];
    if (module === undefined)
      throw new Error(
        `${source}: tensor "${name}" is no LoRA weight of a linear layer (base_model.model.….lora_A.weight or lora_B.weight)`,
      );
    if (!config.targetModules.includes(module))
      throw new Error(`${source}: tensor "${name}" is of ${module}, which target_modules lacks`);
    if (shape.length !== 2 || shape[side === 'A' ? 0 : 1] !== config.rank)
      throw new Error(
        `${source}: tensor "${name}" has shape [${shape.join(', ')}], its rank must be ${config.rank}`,
      );
    const other = name.replace(/lora_[AB]\.weight$/, `lora_${side === 'A' ? 'B' : 'A'}.weight`);
    if (!tensors.has(other)) throw new Error(`${source}: tensor "${name}" is there without "${other}"`);
    found.add(module);
  }
  const absent = config.targetModules.filter((module) => !found.has(module));
  if (absent.length > 0)
    throw new Error(`${source}: target_modules names ${absent.join(', ')}, of which there is no tensor`);
}

/** Writes an adapter into a directory that holds none, float32, flushed to disk. Returns the files, named within `dir`. */
export async function writeAdapter(dir: string, adapter: StoredAdapter): Promise<ListedFile[]> {
  checkTensors(adapter, join(dir, weightsName));
  const config = `${JSON.stringify(peftConfig(adapter.config), null, 2)}\n`;
  return [await writeArrays(dir, weightsName, adapter.tensors), await writeText(dir, configName, config)];
}

export interface ReadAdapter extends StoredAdapter {
  readonly tensors: Map<string, NamedTensor>;
}

/** Throws, naming file and field or tensor, on anything but plain LoRA, and on what does not agree with itself. */
export async function readAdapter(dir: string): Promise<ReadAdapter> {
  const configFile = join(dir, configName);
  const text = await readFile(configFile, 'utf8').catch((cause: unknown) => {
    throw new Error(`${configFile}: cannot read the adapter's configuration`, { cause });
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${configFile}: not JSON: ${(cause as Error).message}`, { cause });
  }
  const config = parseAdapterConfig(json, configFile);
  const file = join(dir, weightsName);
  const tensors = await readSafetensors(file);
  checkTensors({ config, tensors }, file);
  return { config, tensors };
}

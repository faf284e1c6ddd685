// What a job trains, where that is not the whole model: adapters, new ones or those of the checkpoint to go on from, beside
// the base that the job began with.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { JobSpec } from '../../api/contract/spec.ts';
import type { ExpandedTuning } from '../../api/contract/tuning.ts';
import { adapterFolder, readAdapter } from '../checkpoint/adapter.ts';
import type { AdapterConfig } from '../checkpoint/adapter-config.ts';
import { CheckpointCorrupt } from '../checkpoint/error.ts';
import type { LoraTuning } from '../engine/learner/learner.ts';
import { initialAdapters } from '../engine/models/initialize.ts';
import type { Weights } from '../engine/models/initialize.ts';
import { checkLora, linearRoleOf } from '../engine/models/lora.ts';
import type { LoraConfig } from '../engine/models/lora.ts';
import { InvalidModel } from './load-model.ts';
import type { LoadedModel } from './load-model.ts';

export interface LoadedTuning extends LoraTuning {
  /** As it is written beside the adapters. */
  readonly config: AdapterConfig;
  /** Of the base's tensors: adapters go with one base, and a resume over another would go on from another model. */
  readonly baseSha256: string;
}

interface Job {
  readonly model: { readonly init: JobSpec['model']['init']; readonly tuning: ExpandedTuning };
  readonly seed: number;
}

/** Undefined where the whole model is trained. `resume` is the directory of the checkpoint to go on from. */
export async function loadTuning(
  { model: { init, tuning }, seed }: Job,
  { config, weights }: LoadedModel,
  resume: string | undefined,
): Promise<LoadedTuning | undefined> {
  if (tuning.method === 'full') return undefined;
  const { rank, alpha, target_modules } = tuning;
  const lora: LoraConfig = { rank, alpha, targets: target_modules.map(linearRoleOf) };
  try {
    checkLora(config, lora);
  } catch (cause) {
    throw new InvalidModel(`model.tuning: ${(cause as Error).message}`, { cause });
  }
  const adapterConfig = { rank, alpha, targetModules: [...target_modules].sort(), base: baseOf(init) };
  const adapters =
    resume === undefined
      ? initialAdapters(config, lora, seed)
      : await storedAdapters(join(resume, adapterFolder), adapterConfig);
  return { lora, adapters, config: adapterConfig, baseSha256: hashOf(weights) };
}

/** What `base_model_name_or_path` says; a random base is nowhere to be fetched. */
function baseOf(init: JobSpec['model']['init']): string | null {
  if (init.from === 'hf') return init.uri;
  return init.from === 'checkpoint' ? init.checkpoint : null;
}

async function storedAdapters(dir: string, expected: AdapterConfig): Promise<Weights> {
  const { config, tensors } = await readAdapter(dir).catch((cause: unknown) => {
    throw new CheckpointCorrupt((cause as Error).message, { cause });
  });
  if (JSON.stringify(sizeOf(config)) !== JSON.stringify(sizeOf(expected)))
    throw new CheckpointCorrupt(
      `${dir}: holds adapters of ${JSON.stringify(sizeOf(config))}, the job's are of ${JSON.stringify(sizeOf(expected))}`,
    );
  return tensors;
}

const sizeOf = ({ rank, alpha, targetModules }: AdapterConfig) => ({ rank, alpha, targetModules });

function hashOf(weights: Weights): string {
  const hash = createHash('sha256');
  for (const [name, { data }] of [...weights].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${name}\n`);
    hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
  return hash.digest('hex');
}

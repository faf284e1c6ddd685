// Reads a checkpoint back from a local directory, after proving that its bytes are those that were written.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '../../api/contract/checkpoint.ts';
import { CheckpointCorrupt } from './error.ts';
import { readManifest, verifyFiles } from './manifest.ts';
import type { NamedTensor } from './safetensors.ts';
import { readModelWeights, readSafetensors } from './safetensors.ts';
import { momentsName, referenceName, stateName } from './snapshot.ts';

export interface StoredCheckpoint {
  readonly dir: string;
  readonly manifest: Manifest;
  weights(): Promise<Map<string, NamedTensor>>;
  /** Undefined where the snapshot was written without moments. */
  moments(): Promise<Map<string, NamedTensor> | undefined>;
  /** Undefined where the snapshot was written without one. */
  reference(): Promise<Map<string, NamedTensor> | undefined>;
  /** What `state` was when the snapshot was written; its writer knows its shape. */
  state(): Promise<unknown>;
}

/** Throws CheckpointCorrupt naming the file and the mismatch. Arrays are read when they are asked for. */
export async function openCheckpoint(dir: string): Promise<StoredCheckpoint> {
  if ((await stat(dir).catch(() => undefined)) === undefined) {
    throw new CheckpointCorrupt(`${dir}: there is no such checkpoint directory`);
  }
  const manifest = await readManifest(dir);
  await verifyFiles(dir, manifest);
  const listed = (name: string): boolean => manifest.files.some((file) => file.name === name);
  const arrays = async (name: string) => (listed(name) ? await readSafetensors(join(dir, name)) : undefined);
  return {
    dir,
    manifest,
    weights: () => readModelWeights(dir),
    moments: () => arrays(momentsName),
    reference: () => arrays(referenceName),
    state: async () => {
      if (!listed(stateName))
        throw new CheckpointCorrupt(`${dir}: holds no ${stateName}: a model, but nothing to resume`);
      return JSON.parse(await readFile(join(dir, stateName), 'utf8')) as unknown;
    },
  };
}

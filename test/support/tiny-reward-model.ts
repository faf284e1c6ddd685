// A random tiny reward model, a scalar head on two layers, as a directory in Hugging Face layout; and any such directory as a
// checkpoint in a store, as a runner leaves one.
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckpointCommit, Manifest } from '../../api/contract/checkpoint.ts';
import { manifestName } from '../../api/contract/checkpoint.ts';
import { manifestText } from '../../runner/checkpoint/manifest.ts';
import type { ListedFile } from '../../runner/checkpoint/write-model.ts';
import { writeModel } from '../../runner/checkpoint/write-model.ts';
import { hfModelConfig } from '../../runner/engine/models/config.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import { filesystemStore } from '../../store/filesystem.ts';
import { livelyWeights } from '../engine/learner/support.ts';
import { tinyInit } from './tiny-policy.ts';

/** Makes the directory; its files with size and hash. */
export async function writeTinyRewardModel(directory: string, seed = 1): Promise<ListedFile[]> {
  const base = await loadModel(tinyInit, { datasets: {} }, seed);
  const config = { ...base.config, scalarHead: true };
  const weights = [...livelyWeights(config, seed)].map(
    ([name, { shape, data }]) => [name, { dtype: 'float32' as const, shape, data }] as const,
  );
  const modelFiles = new Map(base.files).set('config.json', JSON.stringify(hfModelConfig(config, {})));
  await mkdir(directory, { recursive: true });
  return await writeModel(directory, { weights: new Map(weights), modelFiles });
}

/** Puts the files of `directory` below `prefix`, the manifest last; what to commit. */
export async function storeCheckpoint(
  storeDir: string,
  prefix: string,
  directory: string,
  files: readonly ListedFile[],
): Promise<CheckpointCommit> {
  const store = filesystemStore(storeDir);
  for (const { name } of files) await store.put(`${prefix}${name}`, { path: join(directory, name) });
  const at = { stage: 'sft', stage_index: 0, step: 1, kind: 'final' } as const;
  const manifest: Manifest = {
    format: 'millrace-checkpoint-1',
    job: 'job_00000000000000000001',
    attempt: 1,
    ...at,
    conditions: {
      provider: 'cpu',
      onnxruntime: '0',
      threads: 1,
      cpu: 'none',
      node: '0',
      memory_bytes: 0,
      device: 'cpu',
      precision: 'float32',
      cache_tokens: 1,
    },
    files: [...files],
  };
  const text = Buffer.from(manifestText(manifest));
  await store.put(`${prefix}${manifestName}`, text);
  const size = files.reduce((sum, file) => sum + file.size, text.byteLength);
  const manifest_sha256 = createHash('sha256').update(text).digest('hex');
  return { ...at, prefix, manifest_sha256, size, files: [...files] };
}

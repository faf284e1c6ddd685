// A committed checkpoint. Its files lie in the store under `prefix`; the manifest (written last) lists each with
// size and SHA-256. A checkpoint without a committed row does not exist.
import { z } from 'zod';
import { checkpointId, int32, jobId, precision, sha256, timestamp } from './names.ts';

export const checkpointKind = z.enum(['step', 'stage_end', 'final']);

/** Names inside a checkpoint: no folders but trainer/ and adapter/. */
const fileName = z.string().regex(/^((?:trainer|adapter)\/)?[A-Za-z0-9][A-Za-z0-9._-]{0,120}$/);

/**
 * What is wrong with beginning with a checkpoint of these files, undefined where it holds a model: within a stage a job that
 * trains adapters keeps them alone.
 */
export function beginProblem(names: readonly string[]): string | undefined {
  const isModel = names.some((name) => /^model\.safetensors(\.index\.json)?$/.test(name));
  if (isModel || !names.some((name) => name.startsWith('adapter/'))) return undefined;
  return 'holds adapters alone, without the model beside which they were trained: take one from the end of a stage (kind stage_end or final), which holds the whole model';
}

/** Written last, beside the files that it lists. */
export const manifestName = 'manifest.json';

export const manifestFile = z.object({ name: fileName, size: z.number().int().min(0), sha256 });

/** Conditions under which a resume is exact (decisions 0005 and 0006). */
export const conditions = z.object({
  provider: z.string(),
  onnxruntime: z.string(),
  threads: z.number().int(),
  cpu: z.string().describe('instruction set'),
  node: z.string().describe('its cosines and logarithms enter learning rates and initial weights'),
  memory_bytes: z.number().int().describe('what micro-batches are cut for'),
  device: z.string().default('cpu').describe('adapter and driver, as far as they are known'),
  precision: precision.default('float32').describe('of the operands of products with weights'),
  cache_tokens: z.number().int().default(131_072).describe('what batches of the sampler are cut for'),
});

export const manifest = z.object({
  format: z.literal('millrace-checkpoint-1'),
  job: z.string(),
  attempt: z.number().int(),
  stage: z.string(),
  stage_index: z.number().int(),
  step: z.number().int().describe('finished steps of the stage'),
  kind: checkpointKind,
  conditions,
  files: z.array(manifestFile).min(1),
});
export type Manifest = z.infer<typeof manifest>;

/** What a runner commits once the manifest lies in the store. */
export const checkpointCommit = z
  .object({
    stage: z.string(),
    stage_index: int32,
    step: int32,
    kind: checkpointKind,
    prefix: z.string().describe('object keys begin with it, ends with /'),
    manifest_sha256: sha256,
    size: z.number().int(),
    files: z.array(manifestFile).min(1),
  })
  .meta({ id: 'CheckpointCommit' });
export type CheckpointCommit = z.infer<typeof checkpointCommit>;

export const checkpoint = checkpointCommit
  .extend({
    id: checkpointId,
    job: jobId,
    attempt: z.number().int(),
    pinned: z.boolean().default(false).describe('nobody deletes it, neither retention nor a client'),
    created_at: timestamp,
  })
  .meta({ id: 'Checkpoint' });
export type Checkpoint = z.infer<typeof checkpoint>;

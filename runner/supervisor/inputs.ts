// Brings what an attempt starts from to local paths: datasets, the model to begin with, the checkpoint to go on from, reward
// models.
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Claim } from '../../api/contract/runner.ts';
import type { Inputs, Transfer } from '../ipc.ts';
import { mountedDirectory } from './mounted.ts';
import { TransferFailed } from './uploader-process.ts';

interface Plan {
  readonly inputs: Inputs;
  readonly transfers: readonly Transfer[];
}

/** A local path where the URI is one; undefined where it must be fetched. */
function localPath(uri: string, roots: readonly string[]): string | undefined {
  if (uri.startsWith('s3://')) return undefined;
  const path = uri.startsWith('file:') ? pathOfFileUri(uri) : uri;
  if (!isAbsolute(path))
    throw unusable(uri, 'a model directory is an absolute path, a file: URI or an s3: URI');
  const found = mountedDirectory(path, roots);
  if (found !== undefined) return found;
  const allowed = roots.length === 0 ? 'none is set' : `only ${roots.join(', ')}`;
  throw unusable(
    uri,
    `no directory that this runner may read models from (MILLRACE_MODEL_ROOTS: ${allowed}); put it below one, or bring it to the store with millrace push and name the URI that it prints`,
  );
}

function pathOfFileUri(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch (error) {
    throw unusable(
      uri,
      `not a file: URI of a folder here, such as file:///models/a: ${(error as Error).message}`,
    );
  }
}

const unusable = (uri: string, why: string): TransferFailed =>
  new TransferFailed('fetch_model', 'missing', `${uri}: ${why}`);

function directory(
  uri: string,
  dir: string,
  roots: readonly string[],
): { path: string; transfers: Transfer[] } {
  const path = localPath(uri, roots);
  return path === undefined
    ? { path: dir, transfers: [{ kind: 'fetch_model', uri, dir }] }
    : { path, transfers: [] };
}

type ModelPlan = { readonly inputs: Partial<Inputs>; readonly transfers: readonly Transfer[] };

/** A checkpoint to resume from holds model and tokenizer, so what the job began with is not needed again; adapters need it beside them. */
function modelPlan(claim: Claim, dir: string, roots: readonly string[]): ModelPlan {
  const { resume, spec } = claim;
  if (resume === null) return initPlan(claim, dir, roots);
  const to = join(dir, 'resume');
  const begun =
    spec.model.tuning.method === 'lora' ? initPlan(claim, dir, roots) : { inputs: {}, transfers: [] };
  return {
    inputs: { ...begun.inputs, resume: to },
    transfers: [...begun.transfers, { kind: 'fetch_checkpoint', checkpoint: resume, dir: to }],
  };
}

function initPlan({ spec, init }: Claim, dir: string, roots: readonly string[]): ModelPlan {
  if (init !== null) {
    const to = join(dir, 'init');
    return { inputs: { init: to }, transfers: [{ kind: 'fetch_checkpoint', checkpoint: init, dir: to }] };
  }
  const from = spec.model.init;
  if (from.from === 'hf') {
    const { path, transfers } = directory(from.uri, join(dir, 'init'), roots);
    return { inputs: { init: path }, transfers };
  }
  if (from.from === 'config' && 'uri' in from.tokenizer) {
    const { path, transfers } = directory(from.tokenizer.uri, join(dir, 'tokenizer'), roots);
    return { inputs: { tokenizer: path }, transfers };
  }
  return { inputs: {}, transfers: [] };
}

/**
 * Where every input will lie below `dir`, and what has to be moved for that. `roots`: what local model directories lie
 * below. Throws TransferFailed for a bad URI.
 */
export function planInputs(claim: Claim, dir: string, roots: readonly string[]): Plan {
  const files = claim.datasets.map(({ id, key, size, sha256 }) => {
    const file = join(dir, 'datasets', `${id}.jsonl`);
    return { id, file, transfer: { kind: 'fetch_file', key, size, sha256, file } as const };
  });
  const { inputs, transfers } = modelPlan(claim, dir, roots);
  const rewards = claim.reward_models.map((checkpoint) => {
    const to = join(dir, 'reward-models', checkpoint.id);
    return { id: checkpoint.id, to, transfer: { kind: 'fetch_checkpoint', checkpoint, dir: to } as const };
  });
  return {
    inputs: {
      datasets: Object.fromEntries(files.map(({ id, file }) => [id, file])),
      ...inputs,
      ...(rewards.length > 0 && { rewardModels: Object.fromEntries(rewards.map(({ id, to }) => [id, to])) }),
    },
    transfers: [...[...files, ...rewards].map(({ transfer }) => transfer), ...transfers],
  };
}

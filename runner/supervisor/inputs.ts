// Brings what an attempt starts from to local paths: datasets, the model to begin with, the checkpoint to go on from, reward
// models, teachers from outside the job.
import { join } from 'node:path';
import type { Claim } from '../../api/contract/runner.ts';
import type { Inputs, Transfer } from '../ipc.ts';
import { modelDirectory } from './model-directory.ts';
import { planTeachers } from './teacher-inputs.ts';
import type { TeacherTransfer } from './teacher-inputs.ts';

interface Plan {
  readonly inputs: Inputs;
  readonly transfers: readonly Transfer[];
  readonly teacherTransfers: readonly TeacherTransfer[];
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
    const { path, transfers } = modelDirectory(from.uri, join(dir, 'init'), roots);
    return { inputs: { init: path }, transfers };
  }
  if (from.from === 'config' && 'uri' in from.tokenizer) {
    const { path, transfers } = modelDirectory(from.tokenizer.uri, join(dir, 'tokenizer'), roots);
    return { inputs: { tokenizer: path }, transfers };
  }
  return { inputs: {}, transfers: [] };
}

/**
 * Where every input will lie below `dir`, and what has to be moved for that. `roots`: what local model directories lie
 * below. Throws TransferFailed for a bad URI, and for a teacher that is no more.
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
  const teachers = planTeachers(claim, join(dir, 'teachers'), roots);
  return {
    inputs: {
      datasets: Object.fromEntries(files.map(({ id, file }) => [id, file])),
      ...inputs,
      ...(rewards.length > 0 && { rewardModels: Object.fromEntries(rewards.map(({ id, to }) => [id, to])) }),
      ...teachers.inputs,
    },
    transfers: [...[...files, ...rewards].map(({ transfer }) => transfer), ...transfers],
    teacherTransfers: teachers.transfers,
  };
}

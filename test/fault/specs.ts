// The jobs that a fault run posts: small ones of several kinds, seconds each. All of one kind and seed are the same job, so that what
// each comes to can be compared with one that nobody disturbed.
import type { Client } from '../../api/client.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { datasets } from '../../examples/digits/generate.ts';

export const jobKinds = ['sft', 'cascade', 'evaluate'] as const;
export type JobKind = (typeof jobKinds)[number];
/** `endless`: one to be cancelled. */
export type SpecOf = (kind: JobKind | 'endless', seed: number) => JobSpecInput;

/** Attempts in a row without a checkpoint, the most that may be asked for: no job may be given up for faults that are not its own. */
const maxAttempts = 100;

export async function registerData(client: Client): Promise<SpecOf> {
  const rows = datasets();
  const grader = { type: 'prefix' } as const;
  const upload = async (name: string, kind: 'sft' | 'math', file: string, count: number): Promise<string> => {
    const body = (rows[file] ?? '').split('\n').slice(0, count).join('\n');
    const proven = kind === 'math' ? { grader: JSON.stringify(grader) } : {};
    return (await client.createDataset({ name, kind, ...proven }, body)).id;
  };
  const sft = await upload('fault-sft', 'sft', 'sft.jsonl', 48);
  const train = await upload('fault-train', 'math', 'train.jsonl', 24);
  const test = await upload('fault-test', 'math', 'test.jsonl', 6);
  const model: JobSpecInput['model'] = {
    init: {
      from: 'config',
      config: { hidden_size: 32, intermediate_size: 64, num_hidden_layers: 1, num_attention_heads: 2 },
      tokenizer: { type: 'characters', alphabet: '0123456789,:' },
    },
  };
  const suites = [{ name: 'digits', data: test, grader, k: 2, sampling: { max_response: 12 } }];
  const sftStage = { kind: 'sft' as const, data: sft, batch: 12, steps: 16, lr: 1e-3 };
  const mathStage = {
    kind: 'math' as const,
    data: train,
    grader,
    steps: 10,
    prompts_per_step: 6,
    rollouts: 4,
    max_response: 12,
    overlong: 'keep' as const,
    lr: 1e-3,
  };
  return (kind, seed) => {
    const envelope = { name: `${kind}-${seed}`, seed, model, max_attempts: maxAttempts };
    if (kind === 'evaluate') return { ...envelope, type: 'evaluate', evaluate: { suites } };
    const checkpoints = { every_steps: 4 };
    if (kind === 'endless')
      return { ...envelope, type: 'sft', stage: { ...sftStage, steps: 100_000 }, checkpoints };
    if (kind === 'sft') return { ...envelope, type: 'sft', stage: sftStage, checkpoints };
    return { ...envelope, type: 'cascade', stages: [sftStage, mathStage], evaluate: { suites }, checkpoints };
  };
}

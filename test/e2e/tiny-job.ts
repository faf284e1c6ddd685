// A cascade job small enough for a test, and what is checked of every finished one.
import { expect } from 'vitest';
import type { Client } from '../../api/client.ts';
import type { JobEvent } from '../../api/contract/event.ts';
import type { Checkpoint } from '../../api/contract/checkpoint.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { datasets } from '../../examples/digits/generate.ts';

export const sftSteps = 30;
export const mathSteps = 24;

/** Registers the example's rows; the same rows give the same datasets however often this is called. */
export async function tinySpec(client: Client): Promise<JobSpecInput> {
  const rows = datasets();
  const grader = { type: 'prefix' } as const;
  const upload = async (name: string, kind: 'sft' | 'math', file: string, count: number): Promise<string> => {
    const body = (rows[file] ?? '').split('\n').slice(0, count).join('\n');
    const proven = kind === 'math' ? { grader: JSON.stringify(grader) } : {};
    return (await client.createDataset({ name, kind, ...proven }, body)).id;
  };
  const sft = await upload('tiny-sft', 'sft', 'sft.jsonl', 60);
  const train = await upload('tiny-train', 'math', 'train.jsonl', 40);
  const test = await upload('tiny-test', 'math', 'test.jsonl', 8);
  return {
    type: 'cascade',
    name: 'tiny',
    seed: 5,
    model: {
      init: {
        from: 'config',
        config: { hidden_size: 32, intermediate_size: 64, num_hidden_layers: 2, num_attention_heads: 2 },
        tokenizer: { type: 'characters', alphabet: '0123456789,:' },
      },
    },
    stages: [
      { kind: 'sft', data: sft, batch: 16, steps: sftSteps, lr: 1e-3 },
      {
        kind: 'math',
        data: train,
        grader,
        steps: mathSteps,
        prompts_per_step: 8,
        rollouts: 4,
        max_response: 16,
        overlong: 'keep',
        lr: 1e-3,
      },
    ],
    evaluate: { suites: [{ name: 'digits', data: test, grader, k: 2, sampling: { max_response: 16 } }] },
    checkpoints: { every_steps: 5 },
    max_attempts: 20,
  };
}

/** All events of a job, followed live to the last one. */
export async function followToEnd(
  client: Client,
  job: string,
  onEvent: (event: JobEvent) => void = () => undefined,
): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  for await (const event of client.events(job)) {
    events.push(event);
    onEvent(event);
  }
  return events;
}

/** The history of a job that succeeded: no gap, no double, every step of every stage, the terminal event last. */
export async function expectWhole(client: Client, job: string, events: readonly JobEvent[]): Promise<void> {
  const { state, reason, message } = await client.job(job);
  expect({ state, reason, message }).toMatchObject({ state: 'succeeded' });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  const stored: JobEvent[] = [];
  for await (const event of client.all((query) => client.eventsPage(job, query), { limit: 1000 }))
    stored.push(event);
  expect(stored).toEqual(events);
  expect(events.at(-1)?.body).toMatchObject({ type: 'state', to: 'succeeded' });
  for (const [stage, key, steps] of [
    ['sft', 'loss', sftSteps],
    ['math', 'reward', mathSteps],
  ] as const) {
    const points = [];
    for await (const point of client.all((query) => client.metrics(job, { ...query, stage, key }), {
      limit: 1000,
    }))
      points.push(point.step);
    expect(points).toEqual(Array.from({ length: steps }, (_, i) => i + 1));
  }
}

/** SHA-256 of the final weights, as the checkpoint that was committed names it. */
export function weightsOf({ files }: Checkpoint): string {
  return files.find(({ name }) => name === 'model.safetensors')?.sha256 ?? 'no weights';
}

export async function lastCheckpoint(client: Client, job: string): Promise<Checkpoint> {
  const { last_checkpoint } = await client.job(job);
  expect(last_checkpoint).not.toBeNull();
  return client.checkpoint(last_checkpoint!);
}

// OpenAI's own client against a real service and a real runner on the CPU: upload, train, follow, look at checkpoints, talk
// of another job by cancelling it. Nothing but base URL and key is ours.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { datasets } from '../../examples/digits/generate.ts';
import type { Stack } from '../support/stack.ts';
import { startStack } from '../support/stack.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const limitMs = 180_000;

const names = {
  tiny: {
    init: {
      from: 'config',
      config: {
        hidden_size: 32,
        intermediate_size: 64,
        num_hidden_layers: 2,
        num_attention_heads: 2,
        max_position_embeddings: 128,
      },
      tokenizer: { type: 'characters', alphabet: '0123456789,:' },
    },
  },
};

let dir: TempDir;
let stack: Stack;
let client: OpenAI;

beforeAll(async () => {
  dir = await tempDir('openai-client');
  const models = join(dir.path, 'models.json');
  writeFileSync(models, JSON.stringify(names));
  stack = await startStack({
    dir: dir.path,
    storeUrl: pathToFileURL(join(dir.path, 'store')).href,
    env: { MILLRACE_MODELS: models },
    runnerEnv: { MILLRACE_MODEL_ROOTS: tmpdir() },
  });
  client = new OpenAI({ baseURL: `${stack.connection.url}/v1`, apiKey: stack.connection.key });
}, limitMs);
afterAll(async () => {
  await stack.stop();
  await dir.remove();
});

async function upload(rows: readonly string[], name: string): Promise<string> {
  const file = await toFile(Buffer.from(rows.join('\n')), name);
  return (await client.files.create({ file, purpose: 'fine-tune' })).id;
}

const rowsOf = (file: string): string[] => (datasets()[file] ?? '').trim().split('\n');

/** As a client of theirs does it: asks again until the status is one that stays. */
async function ended(id: string): Promise<OpenAI.FineTuning.FineTuningJob> {
  let job = await client.fineTuning.jobs.retrieve(id);
  await until(
    async () => {
      job = await client.fineTuning.jobs.retrieve(id);
      return ['succeeded', 'failed', 'cancelled'].includes(job.status);
    },
    `job ${id} ends`,
    limitMs,
  );
  return job;
}

async function messagesOf(id: string): Promise<string[]> {
  const messages: string[] = [];
  for await (const event of client.fineTuning.jobs.listEvents(id, { limit: 5 })) messages.push(event.message);
  return messages.reverse();
}

let tuned: string;

it(
  'fine-tunes on chats, and tells how it went',
  async () => {
    const rows = rowsOf('sft.jsonl');
    const training_file = await upload(rows.slice(0, 60), 'sft.jsonl');
    const validation_file = await upload(rows.slice(60, 70), 'held-out.jsonl');
    const created = await client.fineTuning.jobs.create({
      model: 'tiny',
      training_file,
      validation_file,
      suffix: 'digits',
      seed: 5,
      method: {
        type: 'supervised',
        supervised: { hyperparameters: { n_epochs: 3, batch_size: 20, learning_rate_multiplier: 20 } },
      },
    });
    expect(created).toMatchObject({ object: 'fine_tuning.job', fine_tuned_model: null, error: null });
    const job = await ended(created.id);
    expect(job).toMatchObject({ status: 'succeeded', error: null, training_file, validation_file });
    expect(job.trained_tokens).toBeGreaterThan(60 * 3);
    tuned = job.fine_tuned_model!;
    expect(tuned).toMatch(/^ckpt_/);

    const messages = await messagesOf(created.id);
    expect(messages[0]).toBe(`Created fine-tuning job: ${created.id}`);
    expect(messages.at(-1)).toBe('The job has successfully completed');
    const steps = messages.filter((message) => message.startsWith('Step '));
    expect(steps).toHaveLength(9);

    const checkpoints = [];
    for await (const one of client.fineTuning.jobs.checkpoints.list(created.id, { limit: 2 }))
      checkpoints.push(one);
    expect(checkpoints.map(({ step_number }) => step_number)).toEqual([9, 6, 3]);
    expect(checkpoints[0]).toMatchObject({
      fine_tuned_model_checkpoint: tuned,
      fine_tuning_job_id: created.id,
    });
    expect(checkpoints[0]!.metrics.train_loss).toBeGreaterThan(0);
    expect(checkpoints[0]!.metrics.full_valid_loss).toBeGreaterThan(0);

    const csv = await (await client.files.content(job.result_files[0]!)).text();
    const [head, ...lines] = csv.trim().split('\n');
    expect(head!.split(',')).toEqual(expect.arrayContaining(['step', 'train_loss', 'full_valid_loss']));
    expect(lines.map((line) => line.split(',')[0])).toEqual([
      '0',
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
    ]);

    const ours = await stack.client.job(created.id);
    expect(ours).toMatchObject({ name: 'digits', type: 'sft', labels: { api: 'openai', training_file } });
  },
  limitMs,
);

it(
  'reinforces the checkpoint that came of it',
  async () => {
    const tasks = rowsOf('train.jsonl')
      .slice(0, 16)
      .map((line) => JSON.parse(line) as { prompt: string; answer: string })
      .map(({ prompt, answer }) =>
        JSON.stringify({ messages: [{ role: 'user', content: prompt }], expected: { digits: answer } }),
      );
    const created = await client.fineTuning.jobs.create({
      model: tuned,
      training_file: await upload(tasks, 'tasks.jsonl'),
      metadata: { team: 'a' },
      method: {
        type: 'reinforcement',
        reinforcement: {
          grader: {
            type: 'string_check',
            name: 'digits',
            operation: 'eq',
            input: '{{sample.output_text}}',
            reference: '{{item.expected.digits}}',
          },
          hyperparameters: { n_epochs: 1, batch_size: 8, max_response: 16 } as object,
        },
      },
    });
    const job = await ended(created.id);
    expect(job).toMatchObject({ status: 'succeeded', error: null, metadata: { team: 'a' } });
    expect(await stack.client.job(created.id)).toMatchObject({
      type: 'cascade',
      expanded: { stages: [{ kind: 'math', steps: 2, grader: { type: 'exact' } }] },
    });
    // A step whose answers are all alike teaches nothing, and says so.
    const steps = (await messagesOf(created.id)).filter((message) => message.startsWith('Step '));
    expect(steps.map((message) => /^Step \d+(:| skipped:)/.test(message))).toEqual([true, true]);
  },
  limitMs,
);

it(
  'cancels a job that runs',
  async () => {
    const { id } = await client.fineTuning.jobs.create({
      model: 'tiny',
      training_file: await upload(rowsOf('sft.jsonl').slice(0, 60), 'sft.jsonl'),
      hyperparameters: { n_epochs: 100_000, batch_size: 10 },
    });
    await until(
      async () => (await client.fineTuning.jobs.retrieve(id)).status === 'running',
      'the job is running',
    );
    await client.fineTuning.jobs.cancel(id);
    expect(await ended(id)).toMatchObject({ status: 'cancelled', fine_tuned_model: null, result_files: [] });
    const jobs = [];
    for await (const { id: each } of client.fineTuning.jobs.list({ limit: 1 })) jobs.push(each);
    expect(jobs).toHaveLength(3);
    expect(jobs[0]).toBe(id);
  },
  limitMs,
);

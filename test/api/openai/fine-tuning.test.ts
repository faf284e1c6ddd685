// Fine-tuning jobs through OpenAI's own client: what job of ours stands behind each, how states and events are told.
// What is refused is in refused.test.ts.
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { createApp } from '../../../api/app.ts';
import type { App } from '../../../api/app.ts';
import { jobs } from '../../../db/schema.ts';
import { claimOne, useApi } from '../support.ts';
import { chatRow, openAi, sums, tinyModel, upload } from './support.ts';

const api = useApi();
const rows = Array.from({ length: 10 }, (_, i) => chatRow(`${i}+1=`, String(i + 1)));

/** The app with a model by name. */
function client() {
  const app: App = createApp({ db: api.database.db, store: api.store, models: { tiny: tinyModel } });
  return openAi({ ...api, app });
}

const grader = {
  type: 'string_check' as const,
  name: 'same',
  operation: 'eq' as const,
  input: '{{ sample.output_text }}',
  reference: '{{item.answer}}',
};
const reinforcement = (hyperparameters: object = {}, by: object = grader) =>
  ({ type: 'reinforcement', reinforcement: { grader: by, hyperparameters } }) as never;

describe('a supervised job', () => {
  test('is a job of type sft, with "auto" worked out', async () => {
    const training_file = await upload(client(), rows);
    const job = await client().fineTuning.jobs.create({
      model: 'tiny',
      training_file,
      validation_file: await upload(client(), rows.slice(0, 2)),
      suffix: 'mine',
      seed: 7,
      metadata: { a: 'b' },
      hyperparameters: { n_epochs: 4, batch_size: 'auto', learning_rate_multiplier: 2 },
    });
    expect(job).toMatchObject({
      object: 'fine_tuning.job',
      model: 'tiny',
      status: 'queued',
      seed: 7,
      metadata: { a: 'b' },
      user_provided_suffix: 'mine',
      hyperparameters: { n_epochs: 4, batch_size: 1, learning_rate_multiplier: 2 },
      result_files: [],
      trained_tokens: null,
      estimated_finish: null,
      finished_at: null,
      error: null,
    });
    expect(await client().fineTuning.jobs.retrieve(job.id)).toEqual(job);
    const ours = await api.client().job(job.id);
    expect(ours).toMatchObject({
      type: 'sft',
      name: 'mine',
      state: 'queued',
      labels: { api: 'openai', training_file },
      expanded: {
        seed: 7,
        stages: [{ kind: 'sft', epochs: 4, batch: 1, lr: 1e-4, max_length: 64 }],
        evaluate: { suites: [{ name: 'validation', measure: 'loss' }] },
        checkpoints: { every_steps: 10 },
      },
    });
    const dataset = await api.client().dataset((ours.expanded.stages[0] as { data: string }).data);
    expect(dataset).toMatchObject({ kind: 'sft', rows: 10, state: 'ready' });
  });

  test('learns every answer of the assistant but those of weight 0', async () => {
    const turns = [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'be ' },
          { type: 'text', text: 'brief' },
        ],
      },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: '1', weight: 0 },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: '2' },
      { role: 'user', content: 'three' },
      { role: 'assistant', content: '3', weight: 1 },
    ];
    const training_file = await upload(client(), [{ messages: turns }]);
    const { id } = await client().fineTuning.jobs.create({ model: 'tiny', training_file });
    const { expanded } = await api.client().job(id);
    const { data } = expanded.stages[0] as { data: string };
    const [row] = await api.database.sql<{ key: string }[]>`select key from datasets where id = ${data}`;
    const chunks: Buffer[] = [];
    for await (const chunk of await api.store.get(row!.key)) chunks.push(chunk as Buffer);
    const learnt = Buffer.concat(chunks).toString().trim().split('\n');
    expect(learnt.map((line) => (JSON.parse(line) as { messages: unknown[] }).messages)).toEqual([
      [
        { role: 'system', content: 'be brief' },
        ...turns.slice(1, 5).map(({ role, content }) => ({ role, content })),
      ],
      [
        { role: 'system', content: 'be brief' },
        ...turns.slice(1, 7).map(({ role, content }) => ({ role, content })),
      ],
    ]);
  });

  test('of the same rows has the same dataset, whatever the file', async () => {
    const datasets = new Set<string>();
    for (const name of ['a.jsonl', 'b.jsonl']) {
      const training_file = await upload(client(), rows, name);
      const { id } = await client().fineTuning.jobs.create({ model: 'tiny', training_file });
      await client().files.delete(training_file);
      datasets.add(((await api.client().job(id)).expanded.stages[0] as { data: string }).data);
    }
    expect(datasets.size).toBe(1);
  });

  test('is made once for one Idempotency-Key', async () => {
    const training_file = await upload(client(), rows);
    const create = () =>
      client().fineTuning.jobs.create(
        { model: 'tiny', training_file },
        { idempotencyKey: 'x', headers: { 'idempotency-key': 'x' } },
      );
    expect(await create()).toEqual(await create());
  });
});

describe('a reinforcement job', () => {
  test('is a cascade of one stage', async () => {
    const training_file = await upload(client(), sums(40));
    const job = await client().fineTuning.jobs.create({
      model: 'tiny',
      training_file,
      validation_file: await upload(client(), sums(4)),
      method: reinforcement({
        n_epochs: 2,
        batch_size: 16,
        compute_multiplier: 0.5,
        eval_interval: 3,
        eval_samples: 4,
      }),
    });
    expect(job).toMatchObject({
      status: 'queued',
      method: { type: 'reinforcement', reinforcement: { grader } },
      hyperparameters: { n_epochs: 2, batch_size: 16, learning_rate_multiplier: 1 },
    });
    expect((await api.client().job(job.id)).expanded).toMatchObject({
      type: 'cascade',
      stages: [
        {
          kind: 'math',
          grader: { type: 'exact' },
          steps: 5,
          prompts_per_step: 16,
          rollouts: 4,
          max_response: 32,
        },
      ],
      evaluate: { every_steps: 3, suites: [{ name: 'validation', k: 4, grader: { type: 'exact' } }] },
    });
  });

  test.each([
    ['math', { type: 'math' }, { answer: '2' }, 'math', 'math'],
    ['prefix', { type: 'prefix' }, { answer: '2' }, 'math', 'math'],
    [
      'instructions',
      { type: 'instructions' },
      { instruction_id_list: ['punctuation:no_comma'], kwargs: [{}] },
      'instruction',
      'instruction',
    ],
    [
      'code',
      { type: 'code', language: 'javascript' },
      { tests: 'assert(f() === 1)', entry_point: 'f' },
      'code',
      'code',
    ],
    [
      'remote, by its columns',
      { type: 'remote', url: 'https://grader.example.com/' },
      { tests: 'assert(1)' },
      'code',
      'code',
    ],
    [
      'judge',
      { type: 'judge', url: 'https://judge.example.com/v1', model: 'j', prompt: 'pairwise' },
      { chosen: 'a', rejected: 'b' },
      'preference',
      'rlhf',
    ],
  ])('takes our grader %s', async (_what, by, columns, kind, stage) => {
    const messages = [{ role: 'user', content: '1+1=' }];
    const training_file = await upload(client(), [{ messages, ...columns }]);
    const { id } = await client().fineTuning.jobs.create({
      model: 'tiny',
      training_file,
      method: reinforcement({}, by),
    });
    const { expanded } = await api.client().job(id);
    expect(expanded.stages).toMatchObject([{ kind: stage, grader: by, steps: 1, prompts_per_step: 1 }]);
    const { data } = expanded.stages[0] as { data: string };
    expect(await api.client().dataset(data)).toMatchObject({ kind, rows: 1 });
  });

  test('waits, validating its files, where a runner is to prove their gold', async () => {
    const training_file = await upload(client(), sums(3));
    const create = () =>
      client().fineTuning.jobs.create({
        model: 'tiny',
        training_file,
        method: reinforcement({}, { type: 'math' }),
      });
    const { id, status } = await create();
    expect(status).toBe('validating_files');
    expect((await client().fineTuning.jobs.retrieve(id)).status).toBe('validating_files');
    await api.database.sql`update datasets set state = 'ready' where state = 'validating'`;
    expect((await client().fineTuning.jobs.retrieve(id)).status).toBe('queued');
  });
});

describe('a job of theirs', () => {
  test('starts from a checkpoint with what that was trained on, and from a directory', async () => {
    const training_file = await upload(client(), rows);
    const first = await client().fineTuning.jobs.create({ model: 'tiny', training_file });
    await api.database.db
      .update(jobs)
      .set({ priority: 0, orderingKey: -(2 ** 50) })
      .where(eq(jobs.id, first.id));
    const { fence } = await claimOne(api.client());
    const committed = await api.client().runner.checkpoint({
      ...fence,
      checkpoint: {
        stage: 'sft',
        stage_index: 0,
        step: 10,
        kind: 'final',
        prefix: `jobs/${fence.job}/a1/x/`,
        manifest_sha256: '0'.repeat(64),
        size: 1,
        files: [{ name: 'model.safetensors', size: 1, sha256: '0'.repeat(64) }],
      },
    });
    const listed = await client().fineTuning.jobs.checkpoints.list(first.id);
    expect(listed.data).toMatchObject([{ id: committed.id, step_number: 10, metrics: { step: 10 } }]);
    const second = await client().fineTuning.jobs.create({ model: committed.id, training_file });
    expect((await api.client().job(second.id)).expanded.model.init).toEqual({
      from: 'checkpoint',
      checkpoint: committed.id,
    });
    const third = await client().fineTuning.jobs.create({ model: '/models/tiny', training_file });
    expect((await api.client().job(third.id)).expanded.model.init).toEqual({
      from: 'hf',
      uri: '/models/tiny',
    });
    await api.client().runner.finish({
      ...fence,
      outcome: { type: 'failed', reason: 'invalid_data', message: 'bad row' },
      log: '',
    });
    expect(await client().fineTuning.jobs.retrieve(first.id)).toMatchObject({
      status: 'failed',
      fine_tuned_model: null,
      error: { code: 'invalid_data', message: 'bad row', param: 'training_file' },
    });
    const events = await client().fineTuning.jobs.listEvents(first.id);
    expect(events.data[0]).toMatchObject({
      level: 'error',
      type: 'message',
      message: 'The job is failed: invalid_data: bad row',
    });
  });

  test('is paused, resumed and cancelled', async () => {
    const training_file = await upload(client(), rows);
    const { id } = await client().fineTuning.jobs.create({ model: 'tiny', training_file });
    expect(await client().fineTuning.jobs.pause(id)).toMatchObject({ status: 'paused' });
    expect(await client().fineTuning.jobs.resume(id)).toMatchObject({ status: 'queued' });
    const cancelled = await client().fineTuning.jobs.cancel(id);
    expect(cancelled).toMatchObject({ status: 'cancelled', finished_at: expect.any(Number) as number });
    await expect(client().fineTuning.jobs.resume(id)).rejects.toMatchObject({
      status: 409,
      code: 'conflict',
    });
    expect(await client().fineTuning.jobs.cancel(id)).toEqual(cancelled);
  });

  test('is listed with the others of its form, and found by metadata', async () => {
    const training_file = await upload(client(), rows);
    const create = (metadata: Record<string, string> | null) =>
      client().fineTuning.jobs.create({ model: 'tiny', training_file, metadata });
    const [both, one] = [await create({ run: 'x', n: '1' }), await create({ run: 'x' })];
    const found = await client().fineTuning.jobs.list({ metadata: { run: 'x' } });
    expect(found.data.map(({ id }) => id)).toEqual([one.id, both.id]);
    expect((await client().fineTuning.jobs.list({ metadata: { run: 'x', n: '1' } })).data).toHaveLength(1);
    expect((await client().fineTuning.jobs.list({ metadata: { run: 'y' } })).data).toEqual([]);
    const without = await api.request('GET', '/v1/fine_tuning/jobs?metadata=null&limit=200');
    expect(
      ((await without.json()) as { data: { metadata: unknown }[] }).data.every(
        ({ metadata }) => metadata === null,
      ),
    ).toBe(true);
  });

  test('is not found by another project, nor is a job that was posted in our form', async () => {
    const training_file = await upload(client(), rows);
    const { id } = await client().fineTuning.jobs.create({ model: 'tiny', training_file });
    const stranger = openAi(api, api.strangerKey);
    for (const call of [
      () => stranger.fineTuning.jobs.retrieve(id),
      () => stranger.fineTuning.jobs.cancel(id),
      () => stranger.fineTuning.jobs.listEvents(id),
      () => stranger.fineTuning.jobs.checkpoints.list(id),
    ])
      await expect(call()).rejects.toMatchObject({ status: 404 });
    const ours = await api.client().createJob((await api.client().job(id)).spec as never);
    await expect(client().fineTuning.jobs.cancel(ours.id)).rejects.toMatchObject({ status: 404 });
    expect((await api.client().job(ours.id)).state).toBe('queued');
  });
});

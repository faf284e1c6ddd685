// From preferences to a policy that follows them, over REST and with real processes: a reward model is trained and measured on what
// it held out, killed in its middle to the same bits; then a cascade learns from its scores.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Checkpoint } from '../../api/contract/checkpoint.ts';
import type { JobEvent } from '../../api/contract/event.ts';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import type { Prompt } from '../../api/contract/task.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import { readModel } from '../../runner/grader/read-model.ts';
import { RewardModel } from '../../runner/grader/reward-model.ts';
import { childOf } from '../runner/support/processes.ts';
import type { Stack } from '../support/stack.ts';
import { startStack } from '../support/stack.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { followToEnd, lastCheckpoint } from './tiny-job.ts';

const limitMs = 240_000;
const rewardSteps = 30;
const rlhfSteps = 30;

const init = {
  from: 'config',
  config: { hidden_size: 32, intermediate_size: 64, num_hidden_layers: 2, num_attention_heads: 2 },
  tokenizer: { type: 'characters', alphabet: '0123456789:,<>/think \n' },
} as const;

const prompts = Array.from({ length: 40 }, (_, i) => `${i}:`);
const brief = (prompt: string): string => prompt.slice(0, -1);
const rambling = (prompt: string): string => Array.from({ length: 3 }, () => brief(prompt)).join(',');
const jsonLines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

/** The brief answer is preferred; some answers think before, at any length. */
const preferences = prompts.map((prompt, i) => ({
  prompt,
  chosen: i % 4 === 0 ? `<think>${rambling(prompt)}</think>${brief(prompt)}` : brief(prompt),
  rejected: rambling(prompt),
}));

/** Brief and rambling in equal parts, thinking in front of half. */
const demonstrations = prompts.flatMap((prompt, i) =>
  [brief(prompt), rambling(prompt)].map((answer) => ({
    messages: [
      { role: 'user', content: prompt },
      { role: 'assistant', content: i % 2 === 0 ? answer : `<think>${brief(prompt)}</think>${answer}` },
    ],
  })),
);

describe('preferences over REST', () => {
  let dir: TempDir;
  let stack: Stack;
  let data: string;
  let undisturbed: Checkpoint;

  beforeAll(async () => {
    dir = await tempDir('rlhf');
    stack = await startStack({ dir: dir.path, storeUrl: pathToFileURL(join(dir.path, 'store')).href });
    data = (await stack.client.createDataset({ name: 'brevity', kind: 'preference' }, jsonLines(preferences)))
      .id;
  }, limitMs);
  afterAll(async () => {
    await stack.stop();
    await dir.remove();
  });

  const rewardModelJob = (): JobSpecInput => ({
    type: 'reward_model',
    seed: 5,
    model: { init },
    stage: { kind: 'reward_model', data, batch: 8, steps: rewardSteps, lr: 3e-3, held_out: 0.2 },
    checkpoints: { every_steps: 10 },
  });

  async function finished(id: string, onEvent?: (event: JobEvent) => void): Promise<JobEvent[]> {
    const events = await followToEnd(stack.client, id, onEvent);
    const { state, reason, message } = await stack.client.job(id);
    expect({ state, reason, message }).toEqual({ state: 'succeeded', reason: null, message: null });
    return events;
  }

  test('a reward model is trained, and measured on what it held out', { timeout: limitMs }, async () => {
    const { client } = stack;
    const { id } = await client.createJob(rewardModelJob());
    const events = await finished(id);
    expect(events.find(({ body }) => body.type === 'preference_pairs')!.body).toMatchObject({
      ...{ trained: 32, held_out: 8, identical: 0, chosen_longer: 0 },
    });
    const cells = (await client.evaluations(id)).data;
    expect(cells.map(({ after, suite, metric }) => [after, suite, metric])).toEqual([
      ['initial', 'held_out', 'accuracy'],
      ['initial', 'held_out', 'margin'],
      ...['accuracy', 'length_correlation', 'margin'].map((metric) => ['reward_model', 'held_out', metric]),
    ]);
    const of = (metric: string) =>
      cells.find((cell) => cell.after === 'reward_model' && cell.metric === metric)!;
    expect(of('accuracy').value).toBeGreaterThan(0.8);
    expect(of('margin').low).toBeGreaterThan(0);
    expect(of('length_correlation').value).toBeLessThan(-0.5);

    undisturbed = await lastCheckpoint(client, id);
    expect(undisturbed).toMatchObject({ stage: 'reward_model', step: rewardSteps, kind: 'final' });
  });

  test.skipIf(process.platform !== 'linux')(
    'killed in its middle, it ends with the same bits (needs /proc)',
    { timeout: limitMs },
    async () => {
      const { client } = stack;
      const { id } = await client.createJob(rewardModelJob());
      let killed = 0;
      const events = await finished(id, ({ body }) => {
        if (killed > 0 || body.type !== 'step' || body.step < 14) return;
        killed = childOf(stack.pid('runner'), 'runner/trainer.ts')!;
        process.kill(killed, 'SIGKILL');
      });
      expect(killed).toBeGreaterThan(0);
      expect(events.some(({ body }) => body.type === 'rewound' && body.to_step === 10)).toBe(true);
      const hashesOf = ({ files }: Checkpoint) =>
        files.filter(({ name }) => name.endsWith('.safetensors')).map(({ name, sha256 }) => [name, sha256]);
      expect(hashesOf(await lastCheckpoint(client, id))).toEqual(hashesOf(undisturbed));
      expect(events.flatMap(({ body }) => (body.type === 'evaluation' ? [body.after] : []))).toEqual([
        'initial',
        'reward_model',
      ]);
    },
  );

  test('a policy learns what it prefers', { timeout: limitMs }, async () => {
    const { client } = stack;
    const sft = await client.createDataset({ name: 'both-ways', kind: 'sft' }, jsonLines(demonstrations));
    const grader = { type: 'preference', model: undisturbed.id } as const;
    const { id } = await client.createJob({
      type: 'cascade',
      seed: 5,
      model: { init },
      stages: [
        { kind: 'sft', data: sft.id, batch: 16, steps: 150, lr: 4e-3 },
        {
          ...{ kind: 'rlhf', data, grader, steps: rlhfSteps, lr: 1e-3, temperature: 1, top_p: 1 },
          ...{ prompts_per_step: 8, rollouts: 8, max_response: 40 },
        },
      ],
      evaluate: {
        suites: [{ name: 'preferred', data, grader, k: 2, sampling: { max_response: 40 } }],
      },
      samples: { per_step: 64 },
    });
    const events = await finished(id);
    expect(events.filter(({ body }) => body.type === 'reward_waiting')).toEqual([]);

    const rewards = (await client.metrics(id, { stage: 'rlhf', key: 'reward', limit: 200 })).data;
    expect(rewards).toHaveLength(rlhfSteps);
    const meanOf = (points: typeof rewards): number =>
      points.reduce((total, { value }) => total + value!, 0) / points.length;
    expect(meanOf(rewards.slice(-5))).toBeGreaterThan(meanOf(rewards.slice(0, 5)));
    const [afterSft, afterRlhf] = ['sft', 'rlhf'].map(
      (stage) =>
        events.flatMap(({ body }) =>
          body.type === 'evaluation' && body.after === stage ? body.cells : [],
        )[0]!,
    );
    expect(afterRlhf!.low).toBeGreaterThan(afterSft!.high);

    // Scored is what stands after the thinking, and all of it where that never ended.
    const samples = (await client.samples(id, { stage: 'rlhf', step: 1, limit: 200 })).data;
    expect(samples).toHaveLength(64);
    const answers = samples.map(({ prompt, response }) => ({ prompt, answer: afterThinking(response) }));
    expect(answers.some(({ answer }, at) => answer !== samples[at]!.response)).toBe(true);
    const scores = await scoresOf(join(dir.path, 'store', undisturbed.prefix), answers);
    samples.forEach(({ status, reward, parts }, at) => {
      expect({ status, parts }).toEqual({ status: 'scored', parts: {} });
      expect(reward).toBeCloseTo(scores[at]!, 4);
    });
  });
});

const afterThinking = (response: string): string => response.split('</think>').at(-1)!.replace(/^\n+/, '');

/** By the checkpoint itself, outside the service. */
async function scoresOf(
  directory: string,
  answers: readonly { prompt: Prompt; answer: string }[],
): Promise<number[]> {
  const runtime = createRuntime();
  try {
    const model = await RewardModel.create(runtime, await readModel(directory));
    try {
      return (await model.score(answers)).map((score) => ('value' in score ? score.value : NaN));
    } finally {
      model[Symbol.dispose]();
    }
  } finally {
    runtime[Symbol.dispose]();
  }
}

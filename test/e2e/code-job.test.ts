// A job whose answers are programs, end to end with real processes: rows proven in the grader's sandbox, rollouts run in the
// trainer's, and none of them left unscored.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSandbox } from '../../runner/rewards/sandbox/open.ts';
import type { Stack } from '../support/stack.ts';
import { startStack } from '../support/stack.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { followToEnd } from './tiny-job.ts';

const trial = await openSandbox({ slots: 1 });
const missing = trial.languages.includes('python') ? undefined : (trial.missing['python'] ?? 'no back end');
await trial.close();

const steps = 4;
const grader = { type: 'code', language: 'python' } as const;
const programs = Array.from({ length: 10 }, (_, at) => ({ prompt: `${at}:`, program: `print(${at})` }));
const jsonLines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

describe.skipIf(missing !== undefined)(
  `Python${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let dir: TempDir;
    let stack: Stack;
    beforeAll(async () => {
      dir = await tempDir('code-job');
      stack = await startStack({ dir: dir.path, storeUrl: pathToFileURL(join(dir.path, 'store')).href });
    });
    afterAll(async () => {
      await stack.stop();
      await dir.remove();
    });

    async function submit(): Promise<string> {
      const { client } = stack;
      const demonstrations = programs.map(({ prompt, program }) => ({
        messages: [
          { role: 'user', content: prompt },
          { role: 'assistant', content: program },
        ],
      }));
      const tasks = programs.map(({ prompt, program }, at) => ({
        ...{ prompt, tests: [{ input: '', output: `${at}\n` }], solution: program },
      }));
      const sft = await client.createDataset({ name: 'programs', kind: 'sft' }, jsonLines(demonstrations));
      const code = await client.createDataset({ name: 'tasks', kind: 'code' }, jsonLines(tasks));
      const job = await client.createJob({
        type: 'cascade',
        seed: 5,
        model: {
          init: {
            from: 'config',
            config: { hidden_size: 32, intermediate_size: 64, num_hidden_layers: 2, num_attention_heads: 2 },
            tokenizer: { type: 'characters', alphabet: 'print()0123456789:' },
          },
        },
        stages: [
          { kind: 'sft', data: sft.id, batch: 10, steps: 100, lr: 5e-3 },
          {
            ...{ kind: 'math', name: 'code', data: code.id, grader, steps, lr: 1e-4 },
            ...{ prompts_per_step: 4, rollouts: 4, max_response: 12, overlong: 'keep' },
          },
        ],
        evaluate: {
          suites: [{ name: 'programs', data: code.id, grader, k: 2, sampling: { max_response: 12 } }],
        },
        samples: { per_step: 16 },
      });
      return job.id;
    }

    test('every rollout is graded, and what was shown passes', { timeout: 240_000 }, async () => {
      const { client } = stack;
      const job = await submit();
      const events = await followToEnd(client, job);
      const { state, reason, message } = await client.job(job);
      expect({ state, reason, message }).toEqual({ state: 'succeeded', reason: null, message: null });
      expect(events.filter(({ body }) => body.type === 'reward_waiting')).toEqual([]);

      const unscored = (await client.metrics(job, { stage: 'code', key: 'unscored', limit: 1_000 })).data;
      expect(unscored.map(({ value }) => value)).toEqual(Array.from({ length: steps }, () => 0));
      const samples = (await client.samples(job, { stage: 'code', step: 1 })).data;
      expect(samples).toHaveLength(16);
      expect(samples.map(({ status }) => status)).not.toContain('unscored');
      expect(samples).toContainEqual(expect.objectContaining({ status: 'scored', reward: 1 }));

      const [initial, sft] = (await client.evaluations(job)).data;
      expect(initial).toMatchObject({ after: 'initial', tasks: 10, value: 0 });
      expect(sft).toMatchObject({ after: 'sft', tasks: 10 });
      expect(sft!.value).toBeGreaterThan(0.2);
    });
  },
);

// What is told of a step, by hand.
import { expect, it } from 'vitest';
import { distillStage } from '../../../api/contract/stages/distill.ts';
import { distilledMetrics, modesOfBatch } from '../../../runner/cascade/distill/metrics.ts';
import type { DistilledSource } from '../../../runner/cascade/distill/sources.ts';
import type { DistilledRollout } from '../../../runner/cascade/distill/teacher-batch.ts';
import type { ThinkingMode } from '../../../runner/engine/tokenizer/thinking.ts';

const { objective } = distillStage.parse({ kind: 'distill', steps: 1 });
const source = (domain: string) => ({ domain }) as DistilledSource;
const [math, code] = [source('math'), source('code')];

/** Log-probabilities of sampler, policy and teacher, token by token. */
const distilled = (
  of: DistilledSource,
  mode: ThinkingMode,
  tokens: readonly (readonly number[])[],
): DistilledRollout => {
  const column = (index: number) => Float32Array.from(tokens, (token) => token[index]!);
  return {
    ...{ source: of, mode, reward: 0, normalizer: 4 },
    rollout: {
      prompt: new Int32Array(1),
      response: new Int32Array(tokens.length),
      logProbs: column(0),
      truncated: false,
      text: 'x',
    },
    policyLogProbs_T: column(1),
    teacherLogProbs_T: column(2),
  };
};

const batch = [
  distilled(math, 'thinking', [
    [-1, -1, -0.5],
    [-2, -2, -3],
    // exp(1) is outside.
    [-3, -2, -2.25],
  ]),
  distilled(code, 'non_thinking', [[-1, -1, -1]]),
];

const groups = batch.map(({ source: of, mode, rollout }) => ({
  ...{ source: of, mode, task: 0, judged: undefined },
  rollouts_G: [rollout],
}));

it('is of the batch and of each domain', () => {
  const metrics = distilledMetrics(objective, groups, batch);
  // Advantages 0.5, -1, -0.25, 0; the third token is dropped.
  expect(metrics).toMatchObject({
    kl: 0.1875,
    gated: 0.25,
    'math.kl': 0.25,
    'code.kl': 0,
    'math.tokens_share': 0.75,
    'code.tokens_share': 0.25,
    'code.advantage_p50': 0,
    advantage_p50: -0.125,
  });
  expect(metrics['math.gated']).toBeCloseTo(1 / 3, 12);
  // -1, -0.25, 0, 0.5: at 0.15 and 2.85 of three steps.
  expect(metrics['advantage_p05']).toBeCloseTo(-1 + 0.15 * 0.75, 12);
  expect(metrics['advantage_p95']).toBeCloseTo(0.85 * 0.5, 12);
  // - sum gain / 4 * log pi: (0.5 * 1 - 1 * 2) / 4.
  expect(metrics['loss']).toBeCloseTo(-0.375, 12);
  expect(metrics['math.loss']! + metrics['code.loss']!).toBeCloseTo(metrics['loss']!, 12);
});

it('is of each mode too, where there are both', () => {
  expect(modesOfBatch(objective, groups, batch)).toMatchObject({
    thinking: { kl: 0.25, response_length: 3 },
    non_thinking: { kl: 0, response_length: 1, gated: 0 },
  });
  expect(modesOfBatch(objective, groups.slice(0, 1), batch.slice(0, 1))).toBeUndefined();
  expect(modesOfBatch(objective, groups, [])).toMatchObject({ thinking: { response_length: 3 } });
});

it('says of a domain and a mode that they are starved, where none of their rollouts was learnt from', () => {
  const left = batch.slice(0, 1);
  const metrics = distilledMetrics(objective, groups, left);
  expect(metrics).toMatchObject({
    'math.tokens_share': 1,
    'code.tokens_share': 0,
    'math.kl': 0.25,
    kl: 0.25,
  });
  expect(metrics).not.toHaveProperty('code.kl');
  const modes = modesOfBatch(objective, groups, left)!;
  expect(modes.thinking).toMatchObject({ kl: 0.25, response_length: 3 });
  expect(modes.non_thinking).toMatchObject({ response_length: 1 });
  expect(modes.non_thinking).not.toHaveProperty('kl');
  expect(distilledMetrics(objective, groups, [])).toEqual({});
});

// What a job has to show: metric series, the evaluation matrix, kept rollouts.
import { z } from 'zod';
import type { sampleIndex } from './event.ts';
import { evaluationCell, sampleStatus } from './event.ts';
import { stageMode, thinkingMode } from './stages/common.ts';
import { message } from './task.ts';

/** One point of a series; of several attempts at a step the latest is shown. */
export const metricPoint = z
  .object({
    stage: z.string(),
    phase: z.number().int(),
    step: z.number().int(),
    mode: stageMode,
    key: z.string(),
    value: z.number().nullable(),
    attempt: z.number().int(),
  })
  .meta({ id: 'MetricPoint' });
export type MetricPoint = z.infer<typeof metricPoint>;

export const evaluation = evaluationCell
  .extend({
    after: z.string(),
    step: z.number().int().nullable().describe('within the stage; null: at its end'),
    attempt: z.number().int(),
  })
  .meta({ id: 'Evaluation' });
export type Evaluation = z.infer<typeof evaluation>;

/** A line of a sample shard, written by the trainer. */
export const sampleLine = z.object({
  stage: z.string(),
  step: z.number().int(),
  task: z.number().int(),
  rollout: z.number().int(),
  mode: thinkingMode,
  prompt: z.union([z.string(), z.array(message)]),
  response: z.string(),
  tokens: z.number().int(),
  truncated: z.boolean(),
  status: sampleStatus,
  reward: z.number().nullable(),
  parts: z.record(z.string(), z.number()).default({}),
  code: z.string().nullish(),
  advantage: z.number().nullable(),
});
export type SampleLine = z.infer<typeof sampleLine>;

export const sample = sampleLine.extend({ id: z.string(), attempt: z.number().int() }).meta({ id: 'Sample' });
export type Sample = z.infer<typeof sample>;
export type SampleIndex = z.infer<typeof sampleIndex>;

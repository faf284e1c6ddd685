// Supervised fine-tuning (Nemotron-Cascade, Table 14).
import { z } from 'zod';
import {
  askedOfPrompts,
  batch,
  common,
  count,
  data,
  duration,
  oneDuration,
  optimizer,
  positive,
} from './common.ts';

export const sftStage = z
  .strictObject({
    kind: z.literal('sft'),
    ...common,
    data,
    mode: askedOfPrompts,
    lr_schedule: common.lr_schedule.default('cosine'),
    lr: positive.default(5e-5),
    batch: batch.default(256).describe('rows in one step'),
    ...duration,
    max_length: count.default(16_384).describe('tokens; a longer row is refused, never cut'),
    optimizer: optimizer(1e-4),
  })
  .refine(...oneDuration);

// Gates: what must hold after a stage for the cascade to go on. A gate fires only where the interval of what it looks at lies wholly
// on the wrong side: noise stops nobody.
import { z } from 'zod';
import { name } from './names.ts';
import { repair } from './stages/distill.ts';

export const metricPath = z
  .string()
  // A suite's name may hold dots.
  .regex(/^.+\.(thinking|non_thinking)\.[^.]+$/, 'SUITE.MODE.METRIC, as math500.thinking.avg@8')
  .describe('SUITE.MODE.METRIC');

export const gate = z
  .strictObject({
    after: name.describe('a stage'),
    require: z
      .strictObject({
        metric: metricPath,
        drop_at_most: z
          .number()
          .min(0)
          .optional()
          .describe('how much worse than after `since`, at most, task by task'),
        since: name.optional().describe('a stage before, or initial (the default)'),
        at_least: z.number().optional().describe('for a loss: at most'),
        confidence: z.number().min(0.5).lt(1).default(0.95),
      })
      .refine(({ drop_at_most, at_least }) => (drop_at_most === undefined) !== (at_least === undefined), {
        error: 'give drop_at_most or at_least: one of them, and not both',
        path: ['drop_at_most'],
      })
      .refine(({ since, at_least }) => since === undefined || at_least === undefined, {
        error: 'goes with drop_at_most, and only with it',
        path: ['since'],
      }),
    otherwise: z
      .enum(['fail', 'pause', 'distill'])
      .default('pause')
      .describe(
        'pause: resume passes this gate once; distill: the repair stage runs and is evaluated, and a gate that then still fires pauses the job',
      ),
    repair: repair.optional().describe('with distill: the stage that runs then'),
  })
  .refine(({ otherwise, repair }) => otherwise === 'distill' || repair === undefined, {
    error: 'goes with otherwise "distill", and only with it',
    path: ['repair'],
  });
export type Gate = z.infer<typeof gate>;

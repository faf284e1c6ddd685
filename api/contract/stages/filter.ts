// Dynamic filters: which tasks are worth rollouts, since a group whose rollouts all fare alike teaches nothing.
import { z } from 'zod';
import { count } from './common.ts';

const share = z.number().min(0).max(1);

export const dynamicFilter = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('off') }),
  /**
   * Nemotron-Cascade, section 4.5: tasks whose rollouts were all right or all wrong in an epoch stay out of the next ones, but for
   * a draw that re-admits a few.
   */
  z.strictObject({
    type: z.literal('epoch'),
    readmit_hard: share.default(0.1).describe('chance, each epoch, of a task that was all wrong'),
    readmit_easy: share.default(0.01).describe('chance, each epoch, of a task that was all right'),
  }),
  /** DAPO (arXiv 2503.14476, section 3.2): tasks are sampled until every group of the batch has mixed outcomes. */
  z.strictObject({
    type: z.literal('batch'),
    most_rounds: count
      .max(1000)
      .default(10)
      .describe(
        'of sampling for one batch; a batch that is still not full is trained on as it is, and ends the stage',
      ),
  }),
]);
export type DynamicFilter = z.infer<typeof dynamicFilter>;

// What gives a rollout its reward. The objects below appear wherever a `grader` is named.
import { z } from 'zod';

export const grader = z
  .discriminatedUnion('type', [
    /** 1 where the response equals the gold answer (surrounding white space aside), else 0. */
    z.strictObject({ type: z.literal('exact') }),
    /** Length of the common prefix of response and gold over (length of gold + 1). */
    z.strictObject({ type: z.literal('prefix') }),
    /** 1 where the last boxed (or stated) answer equals the gold answer as a mathematical value, else 0. */
    z.strictObject({ type: z.literal('math') }),
  ])
  .meta({ id: 'Grader' });
export type Grader = z.infer<typeof grader>;

// What `millrace doctor` finds out, one line of JSON each, from whichever process looks.
import { z } from 'zod';

export const check = z.object({
  name: z.string(),
  /** skipped: there was nothing to look at. */
  result: z.enum(['ok', 'broken', 'skipped']),
  found: z.string(),
  /** What to do about it; empty where nothing is. */
  advice: z.string().default(''),
});
export type Check = z.infer<typeof check>;

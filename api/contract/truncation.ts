// Which words a draw may take, after the temperature and in this order: top_k, top_p, min_p. The defaults keep all.
// What is learnt from stays the untruncated log-probability at the temperature, whatever these say.
import { z } from 'zod';

export const truncation = {
  top_k: z.number().int().min(0).max(2_147_483_647).default(0).describe('the k likeliest words; 0: all'),
  top_p: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe('the fewest of the likeliest words whose share reaches p; 1: all'),
  min_p: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe('words at least so many times as likely as the likeliest; 0: all'),
};
export type Truncation = { readonly [field in keyof typeof truncation]: number };

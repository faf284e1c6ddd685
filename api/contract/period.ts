// Lengths of time that are kept as a date and not by a timer, so that they may be long: "30s", "15m", "24h", "90d"; "0s" is none.
import { z } from 'zod';

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Ten years. */
const longestMs = 3_650 * units.d;

export const period = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,8})[smhd]$/, {
    error: 'a whole number followed by s, m, h or d, for example "24h"',
    abort: true,
  })
  .refine((text) => periodMs(text) <= longestMs, 'at most ten years (3650d)');

/** Milliseconds of a `period`. */
export const periodMs = (text: string): number =>
  Number(text.slice(0, -1)) * units[text.slice(-1) as keyof typeof units];

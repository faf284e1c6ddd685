// What grading one answer may cost. A base pays for start-up and one test, each further test adds a little, and no number of
// tests makes a hanging answer expensive.
import type { Limits } from '../sandbox/sandbox.ts';

/** Of a conversation that runs `tests` tests in one process. */
export const functionTestLimits = (tests: number): Partial<Limits> => {
  const cpuSeconds = Math.min(30, 6 + 0.5 * tests);
  return { cpuSeconds, wallSeconds: 4 * cpuSeconds };
};

/** Of one run of a whole program on one input: LiveCodeBench's limit. */
export const pairLimits: Partial<Limits> = { cpuSeconds: 6, wallSeconds: 24 };

/** Of all pairs of a row together, in CPU seconds: an answer that is slow on every input ends here. */
export const allPairsSeconds = 60;

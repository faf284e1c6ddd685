import { expect } from 'vitest';

/** Largest difference, against 1 or the largest expected value where that is more. */
export function largestError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(actual.length).toBe(expected.length);
  let [error, scale] = [0, 1];
  for (let i = 0; i < expected.length; i++) {
    error = Math.max(error, Math.abs(actual[i]! - expected[i]!));
    scale = Math.max(scale, Math.abs(expected[i]!));
  }
  return error / scale;
}

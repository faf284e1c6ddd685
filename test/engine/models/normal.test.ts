import { expect, test } from 'vitest';
import { fillNormal } from '../../../runner/engine/models/normal.ts';

test('normal deviates have the moments of a normal distribution', () => {
  const n = 200_000;
  const values = new Float32Array(n);
  fillNormal(values, [7, 9], 2);
  const moment = (power: number): number => values.reduce((sum, x) => sum + (x / 2) ** power, 0) / n;
  // Standard errors are 1/sqrt(n) = 0.0022, sqrt(2/n) = 0.0032, sqrt(96/n) = 0.022: five of them are allowed.
  expect(Math.abs(moment(1))).toBeLessThan(0.012);
  expect(Math.abs(moment(2) - 1)).toBeLessThan(0.016);
  expect(Math.abs(moment(4) - 3)).toBeLessThan(0.11);
});

test('an element depends on key and position only, whatever the length', () => {
  const short = new Float32Array(5);
  const long = new Float32Array(1001);
  const other = new Float32Array(5);
  fillNormal(short, [1, 2], 1);
  fillNormal(long, [1, 2], 1);
  fillNormal(other, [1, 3], 1);
  expect(long.subarray(0, 5)).toEqual(short);
  expect(other).not.toEqual(short);
});

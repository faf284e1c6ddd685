// Bradley-Terry by hand. Margins are logarithms of small numbers, so that every sigmoid is a fraction and every expected value
// can be checked on paper.
import { describe, expect, test } from 'vitest';
import {
  bradleyTerry,
  correlation,
  isOrdered,
  marginsOf,
} from '../../../runner/cascade/reward-model/bradley-terry.ts';
import { correlationInterval, heldOutCells } from '../../../runner/cascade/reward-model/held-out.ts';
import { Diverged } from '../../../runner/cascade/diverged.ts';

describe('bradleyTerry', () => {
  test('loss and slopes of three pairs', () => {
    // sigmoid(0) = 1/2, sigmoid(ln 3) = 3/(3+1) = 3/4, sigmoid(-ln 3) = 1/4.
    const { loss, slopes_P } = bradleyTerry([0, Math.log(3), -Math.log(3)]);
    // - (ln 1/2 + ln 3/4 + ln 1/4) / 3 = ln(2 * 4/3 * 4) / 3 = ln(32/3) / 3.
    expect(loss).toBeCloseTo(Math.log(32 / 3) / 3, 14);
    // d/dm [- log sigmoid(m)] = - sigmoid(-m), a third of it each: -1/2, -1/4, -3/4.
    expect(slopes_P.map((slope) => slope * 3)).toEqual([
      expect.closeTo(-1 / 2, 14),
      expect.closeTo(-1 / 4, 14),
      expect.closeTo(-3 / 4, 14),
    ]);
  });

  test('one pair that is not told apart costs log 2', () => {
    expect(bradleyTerry([0])).toEqual({ loss: Math.LN2, slopes_P: [-0.5] });
  });

  test('margins far out neither overflow nor lose what is small', () => {
    const { loss, slopes_P } = bradleyTerry([-1000]);
    expect([loss, slopes_P[0]]).toEqual([1000, -1]);
    expect(Math.abs(bradleyTerry([1000]).slopes_P[0]!)).toBe(0);
    expect(bradleyTerry([1000]).loss).toBe(0);
    // log(1 + e^-40) = e^-40 - e^-80 / 2 + …, which 1 + e^-40 rounded to float64 would make 0.
    expect(bradleyTerry([40]).loss / Math.exp(-40)).toBeCloseTo(1, 12);
  });

  test('slopes are the derivatives of the loss', () => {
    const margins = [0.3, -1.7, 2.9, -0.02];
    const { slopes_P } = bradleyTerry(margins);
    margins.forEach((_, at) => {
      const shifted = (by: number) => bradleyTerry(margins.map((m, i) => (i === at ? m + by : m))).loss;
      expect(slopes_P[at]).toBeCloseTo((shifted(1e-6) - shifted(-1e-6)) / 2e-6, 8);
    });
  });
});

test('margins of values that lie chosen before rejected; a tie is half ordered', () => {
  const margins = marginsOf(Float32Array.of(2, 0.5, -1, 3, 4, 4));
  expect(margins).toEqual([1.5, -4, 0]);
  expect(margins.map(isOrdered)).toEqual([1, 0, 0.5]);
});

describe('correlation', () => {
  test('Pearson of four points', () => {
    // Deviations (-1.5, -0.5, 0.5, 1.5) and (-1.5, 0.5, -0.5, 1.5): products sum to 4, squares to 5 and 5.
    expect(correlation([1, 2, 3, 4], [1, 3, 2, 4])).toBeCloseTo(4 / 5, 14);
    expect(correlation([1, 2, 3], [-10, -20, -30])).toBe(-1);
  });

  test('is undefined where one of the two does not vary', () => {
    expect(correlation([1, 1, 1], [1, 2, 3])).toBeUndefined();
    expect(correlation([1, 2, 3], [5, 5, 5])).toBeUndefined();
  });

  test('its interval is Fisher’s', () => {
    // tanh(atanh(r) + h) = (q - 1) / (q + 1) with q = (1+r)/(1-r) e^2h: (1+0.8)/(1-0.8) = 9, and h = 1.959964 / sqrt(7 - 3).
    const [lower, upper] = [9 * Math.exp(-1.959963984540054), 9 * Math.exp(1.959963984540054)];
    const { low, high } = correlationInterval(0.8, 7);
    expect(low).toBeCloseTo((lower - 1) / (lower + 1), 8);
    expect(high).toBeCloseTo((upper - 1) / (upper + 1), 8);
    expect(correlationInterval(0.8, 3)).toEqual({ value: 0.8, low: -1, high: 1 });
    expect(correlationInterval(1, 9)).toEqual({ value: 1, low: 1, high: 1 });
  });
});

describe('heldOutCells', () => {
  test('of four pairs', () => {
    // Margins 1, 2, -1, 0.
    const cells = heldOutCells('chat', [3, 2, 1, -1, 0, 1, 2, 2], [3, 2, 1, 1, 4, 2, 2, 9], 1);
    expect(cells.map(({ metric }) => metric)).toEqual(['accuracy', 'margin', 'length_correlation']);
    expect(cells[0]).toMatchObject({
      ...{ suite: 'held_out', domain: 'chat', tasks: 4 },
      ...{ value: 0.625, values: [1, 1, 0, 0.5] },
    });
    // The bootstrap of four pairs: means of four of 1, 2, -1, 0 lie between -1 and 2.
    expect(cells[1]).toMatchObject({ value: 0.5, values: [1, 2, -1, 0] });
    expect(cells[1]!.low).toBeGreaterThanOrEqual(-1);
    expect(cells[1]!.low).toBeLessThan(0);
    expect(cells[1]!.high).toBeGreaterThan(1);
    expect(cells[1]!.high).toBeLessThanOrEqual(2);
    expect(cells[2]!.value).toBeCloseTo(
      correlation([3, 2, 1, -1, 0, 1, 2, 2], [3, 2, 1, 1, 4, 2, 2, 9])!,
      14,
    );
    expect(cells[2]!.values).toBeUndefined();
  });

  test('say no correlation where all answers score alike', () => {
    expect(
      heldOutCells('chat', [0, 0, 0, 0], [1, 2, 3, 4], 1).map(({ metric, value }) => [metric, value]),
    ).toEqual([
      ['accuracy', 0.5],
      ['margin', 0],
    ]);
  });

  test('refuse a model that computes no numbers', () => {
    expect(() => heldOutCells('chat', [NaN, 0], [1, 2], 1)).toThrow(Diverged);
  });
});

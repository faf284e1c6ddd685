// The order of rows: a permutation an epoch, the same whenever asked, and batches by the step's number alone.
import { describe, expect, it } from 'vitest';
import { batchOf, rowOrder } from '../../runner/data/order.ts';

const key = { seed: 7, stage: 'math', rows: 1000, epoch: 0 };
const sorted = (rows: Iterable<number>): number[] => [...rows].sort((a, b) => a - b);
const all = Array.from({ length: 1000 }, (_, row) => row);

describe('rowOrder', () => {
  it('is a permutation, the same every time', () => {
    expect(sorted(rowOrder(key))).toEqual(all);
    expect(rowOrder(key)).toEqual(rowOrder({ ...key }));
    expect([...rowOrder(key)]).not.toEqual(all);
  });

  it('is pinned: a checkpoint written by one version is resumed by the next', () => {
    expect([...rowOrder({ seed: 7, stage: 'math', rows: 10, epoch: 0 })]).toEqual([
      0, 9, 7, 8, 6, 3, 4, 5, 1, 2,
    ]);
  });

  it.each([{ seed: 8 }, { stage: 'sft' }, { epoch: 1 }])('differs with %j', (change) => {
    expect(rowOrder({ ...key, ...change })).not.toEqual(rowOrder(key));
  });

  it('is unbiased enough: each row is first equally often', () => {
    const first = new Array<number>(8).fill(0);
    for (let seed = 0; seed < 4000; seed++)
      first[rowOrder({ seed, stage: 's', rows: 8, epoch: 0 })[0]!]! += 1;
    // 500 expected, standard deviation 21.
    for (const count of first) expect(Math.abs(count - 500)).toBeLessThan(5 * 21);
  });
});

describe('batchOf', () => {
  const plan = { seed: 7, stage: 'math', rows: 10, size: 4 };
  const steps = (count: number, from = 1): number[][] =>
    Array.from({ length: count }, (_, at) => batchOf(plan, from + at));

  it('uses every row once an epoch, wrapping the last batch into the next', () => {
    const line = steps(5).flat();
    expect(sorted(line.slice(0, 10))).toEqual(all.slice(0, 10));
    expect(sorted(line.slice(10, 20))).toEqual(all.slice(0, 10));
    expect(line.slice(0, 10)).not.toEqual(line.slice(10, 20));
    expect(batchOf(plan, 3)).toEqual([...line.slice(8, 10), ...line.slice(10, 12)]);
  });

  it('goes on alike whatever was asked before: in the middle and at an epoch’s boundary', () => {
    const whole = steps(30);
    expect(steps(20, 11)).toEqual(whole.slice(10));
    expect(batchOf(plan, 6)).toEqual(whole[5]);
    expect(batchOf({ ...plan }, 30)).toEqual(whole[29]);
  });

  it('reaches over several epochs where a batch is larger than the dataset', () => {
    const batch = batchOf({ ...plan, size: 25 }, 1);
    expect(sorted(batch.slice(0, 10))).toEqual(all.slice(0, 10));
    expect(sorted(batch.slice(10, 20))).toEqual(all.slice(0, 10));
    expect(new Set(batch.slice(20)).size).toBe(5);
  });

  it('stays quick over a million rows', () => {
    const start = performance.now();
    batchOf({ ...plan, rows: 1_000_000 }, 1);
    const once = performance.now() - start;
    for (let step = 1; step <= 1000; step++) batchOf({ ...plan, rows: 1_000_000 }, step);
    expect(performance.now() - start - once).toBeLessThan(Math.max(once, 500));
  });
});

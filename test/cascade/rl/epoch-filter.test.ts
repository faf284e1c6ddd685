// The epoch filter's arithmetic, and what it does to a line of tasks.
import { describe, expect, it } from 'vitest';
import { isListed, standingOf } from '../../../runner/cascade/rl/epoch-filter.ts';
import type { Standing } from '../../../runner/cascade/rl/epoch-filter.ts';
import { TaskLine } from '../../../runner/cascade/rl/task-line.ts';

const filter = { type: 'epoch' as const, readmit_hard: 0.1, readmit_easy: 0.01 };

describe('standingOf', () => {
  it.each<[string, (number | null)[], number, Standing | undefined]>([
    ['all at the most there is', [1, 1, 1], 1, 'right'],
    ['all at nothing or below', [0, -1, 0], 1, 'wrong'],
    ['mixed', [1, 0, 1], 1, 'open'],
    ['all half right', [0.5, 0.5], 1, 'open'],
    ['all at the most of a task that gives 0.8', [0.8, 0.8], 0.8, 'right'],
    ['the scored ones all right', [1, null, 1], 1, 'right'],
    ['one scored alone', [1, null, null], 1, undefined],
    ['nothing scored', [null, null], 1, undefined],
  ])('%s', (_, values_G, most, standing) => {
    expect(standingOf(values_G, most)).toBe(standing);
  });
});

describe('isListed', () => {
  it('re-admits by chance: the draw is below it', () => {
    expect(isListed('open', 0.999, filter)).toBe(true);
    expect([isListed('wrong', 0.0999, filter), isListed('wrong', 0.1, filter)]).toEqual([true, false]);
    expect([isListed('right', 0.0099, filter), isListed('right', 0.01, filter)]).toEqual([true, false]);
  });
});

const line = (rows: number, changes: Partial<typeof filter> | { filter: undefined } = {}) =>
  new TaskLine({
    seed: 7,
    stage: 'math',
    domain: 'math',
    rows,
    filter: 'filter' in changes ? undefined : { ...filter, ...changes },
  });
const sorted = (rows: readonly number[]): number[] => [...rows].sort((a, b) => a - b);
const all = (rows: number): number[] => Array.from({ length: rows }, (_, row) => row);

describe('a line of tasks with the epoch filter', () => {
  it('is the line without it while nothing is dropped', () => {
    expect(line(10).take(25)).toEqual(line(10, { filter: undefined }).take(25));
  });

  it('keeps what was all right or all wrong out of the epochs that follow', () => {
    const tasks = line(10, { readmit_hard: 0, readmit_easy: 0 });
    const first = tasks.take(10);
    first.slice(0, 3).forEach((task) => tasks.visited(task, 'right'));
    first.slice(3, 5).forEach((task) => tasks.visited(task, 'wrong'));
    // Each epoch of five lists the other five, in an order of its own.
    for (let epoch = 0; epoch < 3; epoch += 1) expect(sorted(tasks.take(5))).toEqual(sorted(first.slice(5)));
    expect([tasks.epoch, tasks.listed]).toEqual([3, 5]);
  });

  it('settles an epoch by what is known when it begins: a batch across the border takes the rest by the old', () => {
    const tasks = line(6, { readmit_hard: 0, readmit_easy: 0 });
    const early = tasks.take(4);
    early.forEach((task) => tasks.visited(task, 'right'));
    const across = tasks.take(3);
    // Two of the first epoch, and one of the second, which lists these two alone: of them nothing is known yet.
    expect(sorted(across.slice(0, 2))).toEqual(sorted(all(6).filter((task) => !early.includes(task))));
    expect(across.slice(0, 2)).toContain(across[2]);
    across.forEach((task) => tasks.visited(task, 'wrong'));
    // The second epoch goes on with the other; the third has nothing.
    expect(tasks.take(5)).toEqual(across.slice(0, 2).filter((task) => task !== across[2]));
    expect([tasks.epoch, tasks.listed]).toEqual([2, 0]);
    expect(tasks.take(1)).toEqual([]);
  });

  it('re-admits a tenth of the hard and a hundredth of the easy, other ones each epoch', () => {
    const rows = 20_000;
    const tasks = line(rows);
    const first = tasks.take(rows);
    const isHard = (task: number): boolean => task % 2 === 0;
    first.forEach((task) => tasks.visited(task, isHard(task) ? 'wrong' : 'right'));
    const second = tasks.take(1).concat(tasks.take(tasks.listed - 1));
    const hard = second.filter(isHard).length;
    // Binomial: 1000 of 10,000 with standard deviation 30, 100 of 10,000 with 10.
    expect(Math.abs(hard - 1000)).toBeLessThan(150);
    expect(Math.abs(second.length - hard - 100)).toBeLessThan(50);
    const third = tasks.take(1).concat(tasks.take(tasks.listed - 1));
    const again = new Set(second);
    expect(third.filter((task) => again.has(task)).length).toBeLessThan(250);
    expect(third.length).toBeGreaterThan(800);
  });

  it('brings a re-admitted task back for good where its new visit is mixed', () => {
    const tasks = line(4, { readmit_hard: 1 });
    tasks.take(4).forEach((task) => tasks.visited(task, 'wrong'));
    tasks.take(4).forEach((task) => tasks.visited(task, task === 2 ? 'open' : 'right'));
    tasks.take(4);
    expect(tasks.state).toMatchObject({ filtered: { standings: '1101' } });
  });

  it('goes on from its state, and from a copy, with the same tasks', () => {
    const tasks = line(50);
    tasks.take(40).forEach((task) => tasks.visited(task, task % 3 === 0 ? 'wrong' : 'open'));
    tasks.take(17);
    const from = new TaskLine(
      { seed: 7, stage: 'math', domain: 'math', rows: 50, filter },
      structuredClone(tasks.state),
    );
    const copy = tasks.copy();
    const next = tasks.take(200);
    expect(from.take(200)).toEqual(next);
    expect(copy.take(200)).toEqual(next);
    expect(from.state).toEqual(tasks.state);
  });

  it('a copy that is dropped leaves no trace', () => {
    const tasks = line(5);
    const before = tasks.state;
    const copy = tasks.copy();
    copy.take(3).forEach((task) => copy.visited(task, 'right'));
    expect(tasks.state).toEqual(before);
    expect(copy.state).not.toEqual(before);
  });
});

// What an RL stage carries: the batches of a single source are those of every version before, and a state that is not the stage's is
// refused with the file that holds it.
import { describe, expect, it } from 'vitest';
import { CheckpointCorrupt } from '../../../runner/checkpoint/error.ts';
import { lineOptionsOf, TaskLines } from '../../../runner/cascade/rl/task-lines.ts';
import { batchOf } from '../../../runner/data/order.ts';
import { sourceOf } from '../../support/source.ts';

const rows = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ prompt: String(i), answer: String(i) }));
const off = { name: 'math', filter: { type: 'off' } } as const;
const epoch = { name: 'math', filter: { type: 'epoch', readmit_hard: 0.1, readmit_easy: 0.01 } } as const;
const single = [sourceOf(rows(10))];
const several = [sourceOf(rows(10), { domain: 'a' }), sourceOf(rows(7), { domain: 'b' })];

describe('TaskLines', () => {
  it('takes the batches that the step’s number alone gives, for one source without a filter', () => {
    const [line] = TaskLines.first(lineOptionsOf(off, single, 7)).lines;
    for (let step = 1; step <= 12; step += 1)
      expect(line!.take(4)).toEqual(batchOf({ seed: 7, stage: 'math', rows: 10, size: 4 }, step));
  });

  it('gives each of several sources an order of its own', () => {
    const same = [sourceOf(rows(10), { domain: 'a' }), sourceOf(rows(10), { domain: 'b' })];
    const [a, b] = TaskLines.first(lineOptionsOf(off, same, 7)).lines;
    expect(a!.take(10)).not.toEqual(b!.take(10));
  });

  it.each([
    ['nothing', off, single, undefined, /trainer\/state\.json.*expected object/s],
    ['fewer sources', off, several, { lines: [{ domain: 'a', epoch: 0, place: 0 }] }, /1 lines .* 2 sources/],
    ['another domain', off, single, { lines: [{ domain: 'x', epoch: 0, place: 0 }] }, /of domain x/],
    ['a place beyond the rows', off, single, { lines: [{ domain: 'math', epoch: 0, place: 11 }] }, /10 rows/],
    ['no filter', epoch, single, { lines: [{ domain: 'math', epoch: 0, place: 0 }] }, /filter is another/],
    [
      'other rows',
      epoch,
      single,
      { lines: [{ domain: 'math', epoch: 0, place: 0, filtered: { standings: '00', listed: '11' } }] },
      /of 2 rows, the dataset has 10/,
    ],
  ])('refuses a state of %s', (_, stage, sources, state, message) => {
    const from = (): unknown => TaskLines.from(lineOptionsOf(stage, sources, 7), state);
    expect(from).toThrow(CheckpointCorrupt);
    expect(from).toThrow(message);
  });
});

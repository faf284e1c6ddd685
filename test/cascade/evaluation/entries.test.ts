// Evaluations of any size fit into what the service takes.
import { expect, it } from 'vitest';
import { defaultLimits } from '../../../api/limits.ts';
import { evaluationEntries } from '../../../runner/cascade/evaluation/entries.ts';

const cell = (suite: string, tasks: number) => ({
  ...{ suite, domain: 'd', mode: 'thinking' as const, metric: 'loss', value: 1, low: 0, high: 2, tasks },
  // As long as a number becomes in JSON.
  values: new Array<number>(tasks).fill(-1.2345678901234567e-100),
});
const at = { after: 'sft', step: 4 };

it('says a small evaluation in one entry', () => {
  const cells = [cell('a', 3), cell('b', 2)];
  expect(evaluationEntries(at, cells)).toEqual([{ type: 'evaluation', ...at, cells }]);
  expect(evaluationEntries(at, [])).toEqual([]);
});

it('says a large one in several, each small enough, every cell once and in order', () => {
  const sizes = [150_000, 60_000, 1, 200_000, 200_001, 10];
  const entries = evaluationEntries(
    at,
    sizes.map((tasks, i) => cell(`s${i}`, tasks)),
  );
  for (const entry of entries)
    expect(Buffer.byteLength(JSON.stringify(entry))).toBeLessThan(defaultLimits.jsonBytes - 1_000_000);
  const told = entries.flatMap(({ cells }) => cells);
  expect(told.map(({ suite }) => suite)).toEqual(sizes.map((_, i) => `s${i}`));
  expect(told.map(({ tasks }) => tasks)).toEqual(sizes);
  expect(told.map(({ values }) => values?.length)).toEqual([150_000, 60_000, 1, 200_000, undefined, 10]);
  expect(entries.map(({ cells }) => cells.length)).toEqual([1, 2, 2, 1]);
});

// The decision on model sizes says what the arithmetic says, and its last sentences what its tables say.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { gpuTable, needTable, severalTable } from '../../infra/model-sizes.ts';

const page = readFileSync(
  resolve(import.meta.dirname, '../../infra/decisions/0012-model-sizes-per-gpu.md'),
  'utf8',
);

/** Cells by line, without the padding that a formatter may add. */
const cells = (markdown: string): string[] =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.replaceAll(/ *\| */g, '|').replaceAll(/-{3,}/g, '---'));

test('the tables of decision 0012 are those of infra/model-sizes.ts', () => {
  const made = [gpuTable(), needTable(), severalTable()];
  expect(cells(page)).toEqual(made.flatMap(cells));
});

test('what the decision concludes stands in its table', () => {
  const row = (gb: number): string[] =>
    gpuTable()
      .split('\n')
      .find((line) => line.startsWith(`| ${gb} |`))!
      .split(' | ');
  const [, full4k] = row(192);
  expect(full4k).toBe('Qwen3-8B');
  expect(row(141).at(-1)).toContain('Qwen3-8B');
  expect(row(40)[3]).toBe('Qwen3-4B');
  expect(row(80)[3]).toBe('Qwen3-8B');
  expect([row(40)[5], row(80)[5]]).toEqual(['Qwen3-8B', 'Qwen3-14B']);
});

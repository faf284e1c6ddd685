// Answers built to cost time. Each is worth what it is worth, within two seconds.
import { describe, expect, it } from 'vitest';
import type { SweRow } from '../../../api/contract/task.ts';
import { LONGEST_ANSWER, sweVerifier } from '../../../runner/rewards/swe.ts';

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i));
const original = lines(3000, (i) => `value_${i % 50} = compute(${i})`);
const changed = original.map((line, i) => (i % 6 === 0 ? `${line} + offset` : line));
const hunk = [
  `@@ -1,3000 +1,3000 @@`,
  ...original.flatMap((line, i) => (changed[i] === line ? [` ${line}`] : [`-${line}`, `+${changed[i]!}`])),
];
const row: SweRow = {
  prompt: 'p',
  files: { 'a.py': original.join('\n'), 'blank.py': `${'\n'.repeat(20_000)}x` },
  patch: ['--- a/a.py', '+++ b/a.py', ...hunk].join('\n'),
};
const fill = (line: (i: number) => string): string => {
  let text = '';
  for (let i = 0; text.length < LONGEST_ANSWER - 1000; i += 1) text += `${line(i)}\n`;
  return text;
};
const block = (path: string, search: string, replace: string) =>
  `### ${path}\n<<<<<<< SEARCH\n${search}=======\n${replace}>>>>>>> REPLACE\n`;
const over = (replace: string) => block('a.py', `${original[0]!}\n`, replace);

describe('hostile answers', () => {
  it.each<[string, string, number, number]>([
    ['a megabyte', over('x\n'.repeat(500_000)), -1, -1],
    [
      'a new file of blank lines',
      block(
        'n.py',
        '',
        fill(() => ''),
      ),
      0,
      0,
    ],
    ['one long line of one character', over(`${'a'.repeat(200_000)}\n`), 0, 1],
    ['one long line of two', over(`${'= '.repeat(100_000)}\n`), 0, 1],
    ['the gold’s letters in disorder', over(fill((i) => `${i * 7919}_eulav = etupmoc`)), 0, 1],
    ['a ladder of ever longer runs', over(fill((i) => `${'a'.repeat(i % 60)}b`)), 0, 1],
    ['a search of blank lines', block('blank.py', `${'\n'.repeat(19_999)}y\n`, 'z\n').repeat(10), -1, -1],
    ['very many blocks', block('a.py', `${original[1]!}\n`, `${original[1]!}\n`).repeat(3000), -1, -1],
    ['very many hunks', `--- a/a.py\n+++ b/a.py\n${'@@ -1 +1 @@\n-q\n+r\n'.repeat(9000)}`, -1, -1],
    ['very many files', fill((i) => block(`${i}.py`, '', 'x\n')), -1, 0.01],
    ['lines of the gold, each twice', over(fill((i) => changed[(i >> 1) % 3000]!)), 0, 1],
    ['dividers', block('a.py', '=======\n'.repeat(20_000), ''), -1, -1],
  ])('%s', async (_, response, least, most) => {
    const start = performance.now();
    const reward = await sweVerifier().grade(row, response);
    const took = performance.now() - start;
    expect(reward.status).not.toBe('unscored');
    const value = reward.status === 'unscored' ? Number.NaN : reward.value;
    expect(value).toBeGreaterThanOrEqual(least);
    expect(value).toBeLessThanOrEqual(most);
    expect(took).toBeLessThan(2000);
  });

  it('the gold of the same row still is worth 1', async () => {
    expect(await sweVerifier().grade(row, sweVerifier().goldResponse(row)!)).toMatchObject({ value: 1 });
  });
});

// Every gold of the shared sets is worth 1 against itself, however it is given, and 0 against the next row's answer
// where that differs.
import { describe, expect, it } from 'vitest';
import { noTestData, testDataDir } from '../../support/test-data.ts';
import type { GoldRow } from './rows.ts';
import { aime, allGsm8k, amc, math500, svamp } from './rows.ts';
import { valueOf } from './verify.ts';

/**
 * Whether two golds differ, by a rule that is not the verifier's: as numbers where both are, else as text without its
 * layout.
 */
function differ(a: string, b: string): boolean {
  const plain = (gold: string) => gold.replace(/\\[!,]|\\\$|[\s,{}]|\\text|\\mbox/g, '');
  const [x, y] = [Number(plain(a)), Number(plain(b))];
  return Number.isNaN(x) || Number.isNaN(y) ? plain(a) !== plain(b) : x !== y;
}

const givenAs = ({ gold, solution }: GoldRow): string[] => [
  gold,
  `\\boxed{${gold}}`,
  `<think>I guess \\boxed{123456}</think> So it is \\boxed{${gold}}.`,
  `The answer is $${gold}$.`,
  `**Final Answer:** ${gold}`,
  ...(solution === undefined ? [] : [solution]),
];

async function wrongVerdicts(rows: readonly GoldRow[]): Promise<string[]> {
  const wrong: string[] = [];
  const ask = async (gold: string, response: string, wanted: number): Promise<void> => {
    if ((await valueOf(gold, response)) !== wanted)
      wrong.push(`${gold} / ${response.slice(-80)}: not ${wanted}`);
  };
  for (const [at, row] of rows.entries()) {
    for (const response of givenAs(row)) await ask(row.gold, response, 1);
    const next = rows[(at + 1) % rows.length]!.gold;
    if (!differ(row.gold, next)) continue;
    await ask(row.gold, `\\boxed{${next}}`, 0);
    await ask(row.gold, next, 0);
  }
  return wrong;
}

describe.skipIf(testDataDir === undefined)(`golds of the shared sets (${noTestData} otherwise)`, () => {
  it.each([
    ['SVAMP', svamp, 1000],
    ['AIME 2024', aime, 30],
    ['AMC 2023', amc, 40],
    ['GSM8K', allGsm8k, 8792],
  ])('%s', async (_, read, count) => {
    const rows = read();
    expect(rows).toHaveLength(count);
    expect(await wrongVerdicts(rows)).toEqual([]);
  });

  it('MATH-500, with the answers of its solutions', async () => {
    const rows = math500();
    expect(rows).toHaveLength(500);
    // Row 22 and the row behind it say the same: 5 and x = 5.
    expect(await wrongVerdicts(rows)).toEqual(['5 / \\boxed{x=5}: not 0', '5 / x=5: not 0']);
  });
});

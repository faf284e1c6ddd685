// Prefix and exact rewards, and the published rewards of the digit-completion task.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createGrader } from '../../runner/rewards/grade.ts';
import { means } from '../support/means.ts';
import { noTestData, testData, testDataDir } from '../support/test-data.ts';

const task = (answer: string) => ({ prompt: 'p', answer });

describe('prefix', () => {
  const grader = createGrader({ type: 'prefix' }, means);
  it.each([
    ['7,7,7,7', '', 0],
    ['7,7,7,7', '7,79', 3 / 8],
    ['7,7,7,7', '7,7,7,7', 7 / 8],
    ['7,7,7,7', '7,7,7,7E', 7 / 8],
    ['7,7,7,7', '7,7,7,7,1', 7 / 8],
    ['8', ' 8', 0],
    ['😀a', '😀', 1 / 3],
    ['😀', '😁', 0],
  ])('gold %j, response %j: %d', async (gold, response, value) => {
    expect(await grader.grade(task(gold), response)).toMatchObject({ status: 'scored', value });
  });

  it('gives the gold its maximum, which is below 1', async () => {
    expect(grader.maxScore(task('1,2'))).toBe(3 / 4);
    expect(await grader.grade(task('1,2'), '1,2')).toMatchObject({ value: grader.maxScore(task('1,2')) });
  });

  it.skipIf(testDataDir === undefined)(
    `reproduces the published rewards (${noTestData} otherwise)`,
    async () => {
      const lines = readFileSync(testData('digit-completion/rewards.jsonl'), 'utf8').trim().split('\n');
      const rows = lines.map(
        (line) => JSON.parse(line) as { truth: string; response: string; matched: number; reward: number },
      );
      expect(rows).toHaveLength(295);
      for (const row of rows) {
        const reward = await grader.grade(task(row.truth), row.response);
        if (reward.status !== 'scored') throw new Error(`not scored: ${JSON.stringify(row)}`);
        expect(reward.parts).toEqual({ matched: row.matched });
        // The file keeps eight decimals.
        expect(Number(reward.value.toFixed(8))).toBe(row.reward);
      }
    },
  );
});

describe('exact', () => {
  const grader = createGrader({ type: 'exact' }, means);
  it.each([
    ['yes', 'yes', 1],
    ['yes', ' yes\n', 1],
    ['yes', 'Yes', 0],
    ['yes', 'yes!', 0],
    ['yes', '', 0],
  ])('gold %j, response %j: %d', async (gold, response, value) => {
    expect(await grader.grade(task(gold), response)).toEqual({ status: 'scored', value, parts: {} });
  });
});

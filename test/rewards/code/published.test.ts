// The published rows: every gold passes, some change of it fails; the tests of HumanEval in JavaScript parse and fail a function that
// does nothing. A fixed stride of the rows in every run, which keeps it to about a minute on two cores; all of them with
// MILLRACE_ALL_ROWS=1, five to ten minutes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeVerifier } from '../../../runner/rewards/code.ts';
import { testFaults } from '../../../runner/rewards/code/test-faults.ts';
import { openSandbox } from '../../../runner/rewards/sandbox/open.ts';
import type { Sandbox } from '../../../runner/rewards/sandbox/sandbox.ts';
import { noTestData, testDataDir } from '../../support/test-data.ts';
import { mutants } from './support/mutants.ts';
import type { PublishedRow } from './support/published-rows.ts';
import { humanEvalJsRows, humanEvalRows, mbppRows } from './support/published-rows.ts';

const allRows = process.env['MILLRACE_ALL_ROWS'] === '1';
const sampled = (rows: readonly PublishedRow[], stride: number): PublishedRow[] =>
  rows.filter((_row, at) => allRows || at % stride === 0);

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.close());

/** Names of the rows for which `fails` says something, with it. All at once: the sandbox queues. */
async function failures(
  rows: readonly PublishedRow[],
  fails: (row: PublishedRow) => Promise<string | undefined>,
): Promise<string[]> {
  const found = await Promise.all(
    rows.map(async (each) => {
      const failure = await fails(each);
      return failure === undefined ? [] : [`${each.name}: ${failure}`];
    }),
  );
  return found.flat();
}

describe.skipIf(testDataDir === undefined)(`published rows (${noTestData} otherwise)`, () => {
  const timeout = allRows ? 1_800_000 : 200_000;

  it.each([
    ['HumanEval', humanEvalRows, 164, 6],
    ['MBPP', mbppRows, 974, 18],
  ])('gives the gold of %s 1 and a change of it 0', { timeout }, async (_name, read, count, stride) => {
    const verifier = codeVerifier(sandbox, 'python');
    const rows = read();
    expect(rows).toHaveLength(count);
    const failed = await failures(sampled(rows, stride), async ({ row }) => {
      const gold = await verifier.grade(row, verifier.goldResponse(row) as string);
      if (gold.status !== 'scored' || gold.value !== 1) return `the gold: ${JSON.stringify(gold)}`;
      for (const solution of mutants(row.solution as string)) {
        const changed = await verifier.grade(row, verifier.goldResponse({ ...row, solution }) as string);
        if (changed.status === 'unscored') return `a change: ${JSON.stringify(changed)}`;
        if (changed.value === 0) return undefined;
      }
      return 'no change of the gold fails';
    });
    expect(failed).toEqual([]);
  });

  it('parses the tests of HumanEval in Python and of MBPP', { timeout }, async () => {
    const rows = [...sampled(humanEvalRows(), 20), ...sampled(mbppRows(), 100)];
    expect(await failures(rows, ({ row }) => testFaults(sandbox, 'python', row))).toEqual([]);
  });

  it(
    'fails functions that do nothing in HumanEval-JS, and names the row that does not parse',
    { timeout },
    async () => {
      const verifier = codeVerifier(sandbox, 'javascript');
      const rows = humanEvalJsRows();
      expect(rows).toHaveLength(161);
      const broken = 'HumanEval_51_remove_vowels';
      const unparsed = rows.filter(({ name }, at) => allRows || at % 6 === 0 || name === broken);
      expect(await failures(unparsed, ({ row }) => testFaults(sandbox, 'javascript', row))).toEqual([
        `${broken}: test 1 of 1 does not parse: SyntaxError: Invalid or unexpected token`,
      ]);
      const failed = await failures(sampled(rows, 4), async ({ name, row }) => {
        const reward = await verifier.grade(row, `\`\`\`js\n${row.prompt as string}}\n\`\`\``);
        const rightly =
          reward.status === 'scored' && reward.value === 0 && reward.detail?.includes('AssertionError');
        return rightly === true || name === broken ? undefined : JSON.stringify(reward);
      });
      expect(failed).toEqual([]);
    },
  );
});

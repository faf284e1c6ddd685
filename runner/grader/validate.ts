// The errand `validate`: for every row that carries a solution, its grader must give that solution the row's maximum, or it would
// teach something wrong. Rows that fail are named; rows without a solution are counted, and so are rows worth 0.
import type { GoldReport } from '../../api/contract/dataset.ts';
import { namedIssues } from '../../api/contract/dataset.ts';
import type { Task, TaskKind } from '../../api/contract/task.ts';
import { eachRow } from '../data/rows.ts';
import type { Reward } from '../rewards/reward.ts';
import type { Verifier } from '../rewards/verifier.ts';
import { atOnce } from './grade.ts';
import { inOrder } from './in-order.ts';

/** A gold could not be graded by no fault of its own: nothing is known about the dataset. */
export class GoldUnscored extends Error {
  override readonly name = 'GoldUnscored';
}

/** Characters of a gold in a message. */
const shown = 200;
const longestFault = 1_000;

/** Memory does not grow with the file. Throws GoldUnscored, and DataError for a file that is not what was registered. */
export async function validateGold(
  verifier: Verifier<Task>,
  rows: TaskKind,
  file: string,
  onGraded: () => void,
): Promise<GoldReport> {
  const report = { broken: 0, issues: [], unproven: 0, zero_maximum: { count: 0, rows: [] } } as GoldReport;
  const found = inOrder(eachRow(file, rows) as AsyncIterable<Task>, atOnce, async (row, index) => {
    const checked = await checkRow(verifier, row, index);
    onGraded();
    return checked;
  });
  let row = 0;
  for await (const { fault, unproven, worthless } of found) {
    if (unproven) report.unproven += 1;
    if (worthless) {
      report.zero_maximum.count += 1;
      if (report.zero_maximum.rows.length < namedIssues) report.zero_maximum.rows.push(row);
    }
    if (fault !== undefined) {
      report.broken += 1;
      if (report.issues.length < namedIssues) report.issues.push({ row, pointer: '', message: fault });
    }
    row += 1;
  }
  return report;
}

interface Checked {
  readonly fault?: string;
  readonly unproven: boolean;
  readonly worthless: boolean;
}

async function checkRow(verifier: Verifier<Task>, row: Task, index: number): Promise<Checked> {
  const unfit = await faultOf(verifier, row, index);
  if (unfit !== undefined) return { fault: unfit, unproven: false, worthless: false };
  const { gold, maximum, broken } = wantedOf(verifier, row);
  if (broken !== undefined) return { fault: broken, unproven: false, worthless: false };
  const worthless = maximum === 0;
  if (gold === undefined) return { unproven: true, worthless };
  const reward = await gradeTwice(verifier, row, gold, index);
  if (reward.status === 'scored' && reward.value >= maximum) return { unproven: false, worthless };
  const says =
    reward.status === 'scored'
      ? `gets ${reward.value} of ${maximum}`
      : `is ${reward.status} (${reward.code})`;
  const detail = reward.detail === undefined ? '' : `: ${reward.detail.slice(0, shown)}`;
  const fault = `the gold ${JSON.stringify(gold.slice(0, shown).toWellFormed())} ${says}${detail.toWellFormed()}`;
  return { fault, unproven: false, worthless };
}

async function faultOf(verifier: Verifier<Task>, row: Task, index: number): Promise<string | undefined> {
  try {
    return (await verifier.rowFault?.(row))?.slice(0, longestFault).toWellFormed();
  } catch (error) {
    throw new GoldUnscored(`row ${index} cannot be checked now: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** What a row promises; one that is beyond its verifier is a broken row. */
function wantedOf(verifier: Verifier<Task>, row: Task) {
  try {
    return { gold: verifier.goldResponse(row), maximum: verifier.maxScore(row) };
  } catch (error) {
    return { gold: undefined, maximum: 0, broken: `the row cannot be graded: ${(error as Error).message}` };
  }
}

/** What was our fault once may have passed. */
async function gradeTwice(verifier: Verifier<Task>, row: Task, gold: string, index: number): Promise<Reward> {
  const first = await verifier.grade(row, gold);
  const reward = first.status === 'unscored' ? await verifier.grade(row, gold) : first;
  if (reward.status !== 'unscored') return reward;
  throw new GoldUnscored(
    `row ${index} cannot be graded now (${reward.code}): ${reward.detail ?? 'no reason given'}`,
  );
}

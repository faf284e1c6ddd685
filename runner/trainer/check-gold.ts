// Gold must reach the maximum: a row whose own answer its grader does not accept would teach the model something wrong.
// Checked before the first step, every row of every stage and suite that is graded; the broken rows are named.
import type { Grader } from '../../api/contract/grader.ts';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import type { Datasets } from '../cascade/run.ts';
import { DataError } from '../data/error.ts';
import { createGrader } from '../rewards/grade.ts';

const NAMED = 10;

export async function checkGold(spec: ExpandedSpec, data: Datasets): Promise<void> {
  for (const stage of spec.stages)
    if (stage.kind === 'math') await checkRows(`stage ${stage.name}`, stage.grader, stage.data, data);
  for (const suite of spec.evaluate.suites)
    await checkRows(`suite ${suite.name}`, suite.grader, suite.data, data);
}

async function checkRows(where: string, grader: Grader, id: string, data: Datasets): Promise<void> {
  const { grade, maxScore } = createGrader(grader);
  const broken: number[] = [];
  const rows = data.math(id);
  for (const [index, row] of rows.entries()) {
    const reward = await grade(row, row.answer);
    if (reward.status !== 'scored' || reward.value < maxScore(row)) broken.push(index);
  }
  if (broken.length === 0) return;
  const named = broken
    .slice(0, NAMED)
    .map((index) => `${index} (answer ${JSON.stringify(rows[index]!.answer)})`);
  throw new DataError(
    `${where}, dataset ${id}: in ${broken.length} of ${rows.length} rows the gold answer does not reach the maximum of grader "${grader.type}": ` +
      `rows ${named.join(', ')}${broken.length > NAMED ? ', …' : ''}; mend the answers or choose another grader`,
  );
}

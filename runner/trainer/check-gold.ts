// Gold must reach the maximum: a row whose own answer its grader does not accept would teach the model something wrong.
// Checked before the first step, every row of every stage and suite that is graded; the broken rows are named.
import type { Grader } from '../../api/contract/grader.ts';
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { RewardUnavailable } from '../cascade/outage.ts';
import type { Datasets } from '../cascade/run.ts';
import { DataError } from '../data/error.ts';
import { createGrader } from '../rewards/grade.ts';
import type { Means } from '../rewards/means.ts';

const NAMED = 10;
/** Characters of a gold. */
const SHOWN = 200;

export async function checkGold(spec: ExpandedSpec, data: Datasets, means: Means): Promise<void> {
  for (const stage of spec.stages)
    if (stage.kind === 'math') await checkRows(`stage ${stage.name}`, stage.grader, stage.data, data, means);
  for (const suite of spec.evaluate.suites)
    await checkRows(`suite ${suite.name}`, suite.grader, suite.data, data, means);
}

async function checkRows(
  where: string,
  grader: Grader,
  id: string,
  data: Datasets,
  means: Means,
): Promise<void> {
  const verifier = createGrader(grader, means);
  const rows = data.tasks(id);
  const found = await Promise.all(
    rows.map(async (row, index) => {
      const gold = verifier.goldResponse(row);
      if (gold === undefined) return [];
      const reward = await verifier.grade(row, gold);
      if (reward.status === 'unscored' && reward.code !== 'broken_row')
        throw new RewardUnavailable(
          `${where}, dataset ${id}, row ${index}: its gold cannot be graded: ${reward.code} (${reward.detail ?? 'no detail'})`,
        );
      if (reward.status === 'scored' && reward.value >= verifier.maxScore(row)) return [];
      return [`${index} (gold ${JSON.stringify(gold.slice(0, SHOWN))})`];
    }),
  );
  const broken = found.flat();
  if (broken.length === 0) return;
  throw new DataError(
    `${where}, dataset ${id}: in ${broken.length} of ${rows.length} rows the gold answer does not reach the maximum of grader "${grader.type}": ` +
      `rows ${broken.slice(0, NAMED).join(', ')}${broken.length > NAMED ? ', …' : ''}; mend the answers or choose another grader${grader.type === 'remote' ? ', or another max_score (null: rows are not proven)' : ''}`,
  );
}

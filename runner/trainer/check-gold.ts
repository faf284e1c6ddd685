// Gold must reach the maximum: a row whose own answer its grader does not accept would teach the model something wrong.
// Checked before the first step, every row of every stage and suite that is graded; the broken rows are named.
import { isAnswered } from '../../api/contract/expand.ts';
import { isDistilled, isReinforced } from '../../api/contract/stage-kinds.ts';
import type { Grader } from '../../api/contract/grader.ts';
import type { Claim } from '../../api/contract/runner.ts';
import { sourcesOf } from '../../api/contract/sources.ts';
import type { Task } from '../../api/contract/task.ts';
import { outlastOutage } from '../cascade/outage.ts';
import type { GradingPlace, OutagePolicy } from '../cascade/outage.ts';
import type { Datasets } from '../cascade/host.ts';
import { DataError } from '../data/error.ts';
import { createGrader } from '../rewards/grade.ts';
import type { Means } from '../rewards/means.ts';
import type { Reward } from '../rewards/reward.ts';
import type { Verifier } from '../rewards/verifier.ts';

const NAMED = 10;
/** Characters of a gold. */
const SHOWN = 200;

/**
 * Waits where graders are away. What was proven when the dataset was registered, by the same grader, is not proven again. Throws
 * DataError naming broken rows, and RewardUnavailable.
 */
export async function checkGold(
  { spec, datasets }: Pick<Claim, 'spec' | 'datasets'>,
  data: Datasets,
  means: Means,
  outage: OutagePolicy,
): Promise<void> {
  // Of gold nothing may stay unknown.
  const wanted = { ...outage, rewards: { ...outage.rewards, unscored_at_most: 0 } };
  const check = async (where: string, given: Checked, place: GradingPlace): Promise<void> => {
    if (datasets.some((dataset) => dataset.id === given.data && isSame(dataset.proven_by, given.grader)))
      return;
    const rows = data.tasks(given.data);
    const broken = await brokenRows(rows, createGrader(given.grader, means), place, wanted);
    if (broken.length > 0) throw new DataError(faultOf(where, given, rows.length, broken));
  };
  const ofStages = spec.stages
    .filter(isReinforced)
    .flatMap((stage) =>
      sourcesOf(stage).map((given): Named => ({ where: `stage ${stage.name}`, stage: stage.name, given })),
    );
  for (const { where, stage, given } of [...ofStages, ...distilledBeside(spec, ofStages)])
    await check(where, given, { stage, step: null, suite: null });
  for (const suite of spec.evaluate.suites.filter(isAnswered))
    await check(`suite ${suite.name}`, suite, { stage: 'initial', step: null, suite: suite.name });
}

/** Both come out of the same schema, field by field in its order. */
const isSame = (one: Grader | null, other: Grader): boolean => JSON.stringify(one) === JSON.stringify(other);

interface Checked {
  readonly grader: Grader;
  readonly data: string;
}

interface Named {
  readonly where: string;
  readonly stage: string;
  readonly given: Checked;
}

/** What stages that distil grade, less what they have from stages before them as it is. */
const distilledBeside = ({ stages }: Claim['spec'], checked: readonly Named[]): Named[] =>
  stages.filter(isDistilled).flatMap(({ name, domains }) =>
    domains.flatMap(({ domain, data, grader }) => {
      const isChecked = checked.some(
        ({ given }) => given.data === data && grader !== undefined && isSame(given.grader, grader),
      );
      if (grader === undefined || isChecked) return [];
      return [{ where: `stage ${name}, domain ${domain}`, stage: name, given: { grader, data } }];
    }),
  );

/** Which rows' gold does not reach the maximum. */
async function brokenRows(
  rows: readonly Task[],
  verifier: Verifier<Task>,
  place: GradingPlace,
  outage: OutagePolicy,
): Promise<string[]> {
  const golds = rows.flatMap((row, index) => {
    const gold = verifier.goldResponse(row);
    return gold === undefined ? [] : [{ row, index, gold }];
  });
  const grade = async (given: (typeof golds)[number]) => {
    const outcome = await verifier.grade(given.row, given.gold);
    outage.alive();
    return { ...given, outcome, reward: valueOf(outcome) };
  };
  const graded = await outlastOutage(await Promise.all(golds.map(grade)), grade, place, outage);
  return graded
    .filter(({ outcome, row }) => outcome.status !== 'scored' || !(outcome.value >= verifier.maxScore(row)))
    .map(({ index, gold }) => `${index} (gold ${JSON.stringify(gold.slice(0, SHOWN))})`);
}

/** A row that is broken in itself is worth no waiting. */
const valueOf = (outcome: Reward): number | null =>
  outcome.status !== 'unscored' ? outcome.value : outcome.code === 'broken_row' ? 0 : null;

const faultOf = (where: string, { grader, data }: Checked, rows: number, broken: readonly string[]): string =>
  `${where}, dataset ${data}: in ${broken.length} of ${rows} rows the gold answer does not reach the maximum of grader "${grader.type}": ` +
  `rows ${broken.slice(0, NAMED).join(', ')}${broken.length > NAMED ? ', …' : ''}; mend the answers or choose another grader` +
  (grader.type === 'remote' ? ', or another max_score (null: rows are not proven)' : '');

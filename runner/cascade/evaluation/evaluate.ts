// A suite, measured in every mode that it lists. Nothing here learns, and its draws are the suite's own: an evaluation repeated
// after a resume gives the same numbers, and two checkpoints are compared on like terms.
import type { ExpandedAnsweredSuite, ExpandedSuite } from '../../../api/contract/expand.ts';
import type { Task } from '../../../api/contract/task.ts';
import { drawKey } from '../../engine/random/draws.ts';
import type { ThinkingMode } from '../../engine/tokenizer/thinking.ts';
import { createGrader } from '../../rewards/grade.ts';
import type { Verifier } from '../../rewards/verifier.ts';
import { askedMode } from '../asked-mode.ts';
import { gradeGroups } from '../grading.ts';
import type { Graded } from '../graded.ts';
import type { Grading } from '../grading.ts';
import type { Policy } from '../policy.ts';
import { roomyPrompts } from '../prompt.ts';
import { sampleGroups, truncationOf } from '../rollout.ts';
import type { Datasets } from '../host.ts';
import { averages } from './average.ts';
import { loss } from './loss.ts';
import { measuredCell } from './measured.ts';
import type { Measure, Measured } from './measured.ts';
import { points, subtasksOf } from './points.ts';
import { winRate, winVerifier } from './win-rate.ts';

export interface EvaluationOptions extends Grading {
  readonly seed: number;
  /** The stage, or `initial`. */
  readonly after: string;
  /** Within the stage; null: at its end. */
  readonly step: number | null;
}

/** Throws DataError for rows that the suite cannot be measured on, RewardUnavailable where graders stay away. */
export async function evaluateSuite(
  policy: Policy,
  suite: ExpandedSuite,
  data: Datasets,
  options: EvaluationOptions,
): Promise<Measured[]> {
  const where = `suite ${suite.name}, dataset ${suite.data}`;
  const measureIn = measureOf(policy, suite, data, options, where);
  const measured = [];
  for (const mode of suite.modes ?? [undefined])
    for (const measure of await measureIn(mode))
      measured.push(measuredCell(suite, askedMode(mode), measure, options.seed));
  // None where no task could be scored: our fault, and no number.
  return measured.filter((one) => one !== undefined);
}

type MeasureIn = (mode: ThinkingMode | undefined) => Promise<readonly Measure[]>;

/** What is the same in every mode, such as the scores of references, is done once. */
function measureOf(
  policy: Policy,
  suite: ExpandedSuite,
  data: Datasets,
  options: EvaluationOptions,
  where: string,
): MeasureIn {
  if (suite.measure === 'loss') {
    const rows = data.sft(suite.data);
    const { prompt_format: format, max_length: maxLength } = suite;
    return async (mode) => [await loss(policy, rows, { format, maxLength, mode }, where)];
  }
  const rows = data.tasks(suite.data);
  const grader = createGrader(suite.grader, options.means);
  const asked = { policy, suite, rows, where, options };
  const answersIn = (mode: ThinkingMode | undefined, verifier: Verifier) =>
    gradedAnswers(asked, mode, verifier);
  switch (suite.measure) {
    case 'average':
      return async (mode) => averages(suite, rows, grader, await answersIn(mode, grader));
    case 'win_rate': {
      const verifier = winVerifier(suite.grader, grader, rows, where);
      return async (mode) => [winRate(await answersIn(mode, verifier))];
    }
    case 'points': {
      const subtasks_P = subtasksOf(rows, where);
      return async (mode) => points(subtasks_P, await answersIn(mode, grader));
    }
  }
}

interface Asked {
  readonly policy: Policy;
  readonly suite: ExpandedAnsweredSuite;
  readonly rows: readonly Task[];
  /** The suite and its dataset, in words. */
  readonly where: string;
  readonly options: EvaluationOptions;
}

/** Every task answered k times and graded. */
async function gradedAnswers(
  { policy, suite, rows, where, options: { seed, after, step, outage } }: Asked,
  mode: ThinkingMode | undefined,
  verifier: Verifier,
): Promise<Graded[][]> {
  const { temperature, max_response: maxResponse } = suite.sampling;
  const prompts_P = roomyPrompts(policy, rows, { format: suite.prompt_format, maxResponse, mode }, where);
  const groups_PG = await sampleGroups(
    policy,
    prompts_P,
    { rollouts: suite.k, temperature, maxResponse, ...truncationOf(suite.sampling) },
    drawKey(seed, `evaluate/${suite.name}`, 0),
  );
  const place = { stage: after, step, suite: suite.name };
  return gradeGroups(verifier, rows, groups_PG, place, outage);
}

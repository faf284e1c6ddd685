// avg@k of a suite: every task answered k times, graded, averaged; the interval is over tasks, since the k answers to one
// task are not independent. Nothing here learns, so that an evaluation repeated after a resume gives the same numbers.
import type { EvaluationCell } from '../../../api/contract/event.ts';
import type { ExpandedAnsweredSuite, ExpandedSuite } from '../../../api/contract/expand.ts';
import { drawKey } from '../../engine/random/draws.ts';
import type { ThinkingMode } from '../../engine/tokenizer/thinking.ts';
import { createGrader } from '../../rewards/grade.ts';
import { askedMode } from '../asked-mode.ts';
import { gradeGroups } from '../grading.ts';
import type { Grading } from '../grading.ts';
import type { Policy } from '../policy.ts';
import { roomyPrompts } from '../prompt.ts';
import { sampleGroups, truncationOf } from '../rollout.ts';
import type { Datasets } from '../run.ts';

/** Normal quantile of a two-sided 95 % interval. */
export const Z95 = 1.96;

export interface EvaluationOptions extends Grading {
  readonly seed: number;
  /** The stage just ended, or `initial`. */
  readonly after: string;
}

/** A cell for every mode that the suite lists. */
export async function evaluateSuite(
  policy: Policy,
  suite: ExpandedSuite,
  data: Datasets,
  options: EvaluationOptions,
): Promise<EvaluationCell[]> {
  if (suite.measure !== 'average') throw new Error(`internal: ${suite.measure} is not measured yet`);
  const cells = [];
  for (const mode of suite.modes ?? [undefined]) {
    const cell = await average(policy, suite, mode, data, options);
    if (cell !== undefined) cells.push(cell);
  }
  return cells;
}

/** Undefined where no answer of any task could be scored: our fault, and no number. */
async function average(
  policy: Policy,
  suite: ExpandedAnsweredSuite,
  mode: ThinkingMode | undefined,
  data: Datasets,
  { seed, after, means, outage }: EvaluationOptions,
): Promise<EvaluationCell | undefined> {
  const rows = data.tasks(suite.data);
  const { temperature, max_response } = suite.sampling;
  const room = { format: suite.prompt_format, maxResponse: max_response, mode };
  const prompts_P = roomyPrompts(policy, rows, room, `suite ${suite.name}, dataset ${suite.data}`);
  // The same draws at every evaluation: two checkpoints are compared on like terms.
  const key = drawKey(seed, `evaluate/${suite.name}`, 0);
  const groups_PG = await sampleGroups(
    policy,
    prompts_P,
    { rollouts: suite.k, temperature, maxResponse: max_response, ...truncationOf(suite.sampling) },
    key,
  );
  const grader = createGrader(suite.grader, means);
  const place = { stage: after, step: null, suite: suite.name };
  const graded_PG = await gradeGroups(grader, rows, groups_PG, place, outage);
  const values = graded_PG.map((graded_G) => {
    const scored = graded_G.flatMap(({ reward }) => (reward === null ? [] : [reward]));
    return scored.length === 0 ? null : mean(scored);
  });
  const scored = values.filter((value) => value !== null);
  if (scored.length === 0) return undefined;
  return {
    suite: suite.name,
    domain: suite.domain,
    mode: askedMode(mode),
    metric: `avg@${suite.k}`,
    tasks: scored.length,
    values,
    ...interval(scored),
  };
}

/** Mean and its 95 % interval by the normal approximation. */
export function interval(values: readonly number[]): { value: number; low: number; high: number } {
  const value = mean(values);
  const variance = values.reduce((total, x) => total + (x - value) ** 2, 0) / Math.max(1, values.length - 1);
  const half = Z95 * Math.sqrt(variance / values.length);
  return { value, low: value - half, high: value + half };
}

const mean = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0) / values.length;

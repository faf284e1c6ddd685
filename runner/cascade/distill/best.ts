// Which end of a stage is best in a domain, by evaluations alone, so that a resumed run chooses alike:
//  1. the initial model is no candidate, nor is an end that was not evaluated in the domain;
//  2. an end's score is the mean, over the suites of the domain and their modes, of the suite's first metric: avg@k, win_rate or
//     points_share. A loss counts negative, and only where the domain has no suite that is answered;
//  3. of a mean over fewer suites and modes (no task of one could be scored) nothing can be said beside one over all: the ends that
//     have the most of them compete;
//  4. ties go to the later stage, which is nearer to the student.
import type { EvaluationCell } from '../../../api/contract/event.ts';
import { mean } from '../mean.ts';
import type { Evaluated } from '../point.ts';

export interface Best {
  readonly stage: string;
  readonly score: number;
}

/** `evaluations` in the order of the run; undefined: none is of the domain. */
export function bestOf(domain: string, evaluations: readonly Evaluated[]): Best | undefined {
  const ends = evaluations.filter(({ after }) => after !== 'initial');
  const cells = ends.flatMap((end) => end.cells.filter((cell) => cell.domain === domain));
  const scoreOf = cells.some(isAnswered) ? answeredScore : lossScore;
  const scored = ends.map(({ after, cells: own }) => ({
    stage: after,
    scores: own.flatMap((cell) => (cell.domain === domain ? scoreOf(cell) : [])),
  }));
  const most = scored.reduce((largest, { scores }) => Math.max(largest, scores.length), 0);
  let best: Best | undefined;
  for (const { stage, scores } of scored) {
    if (scores.length === 0 || scores.length < most) continue;
    const score = mean(scores);
    if (best === undefined || score >= best.score) best = { stage, score };
  }
  return best;
}

/** Of what a suite measures the number that it is judged by; the others (pass@k, points) tell of the same answers. */
const isAnswered = ({ metric }: EvaluationCell): boolean =>
  metric.startsWith('avg@') || metric === 'win_rate' || metric === 'points_share';

const answeredScore = (cell: EvaluationCell): number[] => (isAnswered(cell) ? [cell.value] : []);

const lossScore = ({ metric, value }: EvaluationCell): number[] => (metric === 'loss' ? [-value] : []);

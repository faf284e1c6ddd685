// Which end of a stage is best in a domain, by evaluations alone: what the teacher `best` means, of another job (the service chooses) as of
// the job itself (the runner does). ADR 0021.
//  1. An end that was not evaluated in the domain is no candidate.
//  2. An end's score is the mean, over the suites of the domain and their modes, of the suite's first metric: avg@k, win_rate or
//     points_share. A loss counts negative, and only where the domain has no suite that is answered.
//  3. A mean over fewer suites and modes (no task of one could be scored) is not to be compared with one over all: the ends that have
//     the most of them compete.
//  4. Ties go to the later end, which is nearer to the student.
import type { EvaluationCell } from './event.ts';

export interface EvaluatedEnd {
  readonly cells: readonly Pick<EvaluationCell, 'domain' | 'metric' | 'value'>[];
}

/** `ends` in the order of the run, without the initial model; undefined: none is of the domain. */
export function strongestIn<End extends EvaluatedEnd>(
  domain: string,
  ends: readonly End[],
): { readonly end: End; readonly score: number } | undefined {
  const own = ends.map((end) => ({ end, cells: end.cells.filter((cell) => cell.domain === domain) }));
  const answered = own.some(({ cells }) => cells.some(isAnswered));
  const scored = own.map(({ end, cells }) => ({ end, scores: cells.flatMap(answered ? answer : loss) }));
  const most = Math.max(1, ...scored.map(({ scores }) => scores.length));
  const candidates = scored
    .filter(({ scores }) => scores.length === most)
    .map(({ end, scores }) => ({ end, score: scores.reduce((total, one) => total + one, 0) / most }));
  const best = Math.max(...candidates.map(({ score }) => score));
  return candidates.findLast(({ score }) => score === best);
}

type Cell = EvaluatedEnd['cells'][number];

/** Of what a suite measures the number that it is judged by; the others (pass@k, points) tell of the same answers. */
const isAnswered = ({ metric }: Cell): boolean =>
  metric.startsWith('avg@') || metric === 'win_rate' || metric === 'points_share';

const answer = (cell: Cell): number[] => (isAnswered(cell) ? [cell.value] : []);
const loss = ({ metric, value }: Cell): number[] => (metric === 'loss' ? [-value] : []);

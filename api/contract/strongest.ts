// Which model is the strongest in a domain, by evaluations alone: what the teacher `best` means, of the job itself (the runner chooses)
// and of another one (the service does). ADR 0021.
import type { EvaluationCell } from './event.ts';
import type { ExpandedSuite } from './expand.ts';

export type Measured = Pick<EvaluationCell, 'suite' | 'mode' | 'metric' | 'value'>;

/** The first that a suite measures; of points their share, since tasks are worth different ones. */
function metricOf(suite: ExpandedSuite): string {
  if (suite.measure === 'average') return `avg@${suite.k}`;
  return suite.measure === 'points' ? 'points_share' : suite.measure;
}

/** Suites that say how strong a model is in a domain; those of loss only where there is no other. */
function suitesOf(domain: string, suites: readonly ExpandedSuite[]): readonly ExpandedSuite[] {
  const own = suites.filter((suite) => suite.domain === domain);
  const answered = own.filter(({ measure }) => measure !== 'loss');
  return answered.length > 0 ? answered : own;
}

/**
 * Mean over the suites of the domain and their modes of each suite's first metric, a loss counted negative. Undefined where a cell is
 * missing: means over different suites are not to be compared.
 */
export function strengthIn(
  domain: string,
  suites: readonly ExpandedSuite[],
  cells: readonly Measured[],
): number | undefined {
  const values = suitesOf(domain, suites).flatMap((suite) =>
    (suite.modes ?? ['non_thinking']).map((mode) => {
      const metric = metricOf(suite);
      const cell = cells.find(
        (one) => one.suite === suite.name && one.mode === mode && one.metric === metric,
      );
      return cell && (suite.measure === 'loss' ? -cell.value : cell.value);
    }),
  );
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0 || known.length < values.length) return undefined;
  return known.reduce((total, value) => total + value, 0) / known.length;
}

/** The one with the greatest strength; of equals the last, which is nearest to the student. Those without any are none. */
export function strongest<Candidate extends { readonly strength: number | undefined }>(
  candidates: readonly Candidate[],
): (Candidate & { readonly strength: number }) | undefined {
  const known = candidates.filter(
    (one): one is Candidate & { readonly strength: number } => one.strength !== undefined,
  );
  const most = Math.max(...known.map(({ strength }) => strength));
  return known.findLast(({ strength }) => strength === most);
}

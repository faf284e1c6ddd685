// Which end of a stage of the run so far is best in a domain, by the evaluations that checkpoints carry: a resumed run chooses alike. The
// rule is the contract's (api/contract/strongest.ts), by which other jobs' ends are chosen too; the initial model is no candidate.
import { strongestIn } from '../../../api/contract/strongest.ts';
import type { Evaluated } from '../point.ts';

export interface Best {
  readonly stage: string;
  readonly score: number;
}

/** `evaluations` in the order of the run; undefined: none is of the domain. */
export function bestOf(domain: string, evaluations: readonly Evaluated[]): Best | undefined {
  const best = strongestIn(
    domain,
    evaluations.filter(({ after }) => after !== 'initial'),
  );
  return best && { stage: best.end.after, score: best.score };
}

// How many steps a stage takes that passes over rows.
import { MOST_STEPS } from '../../api/contract/stages/common.ts';
import { DataError } from '../data/error.ts';

interface Passing {
  readonly name: string;
  readonly data: string;
  readonly batch: number;
  readonly steps?: number | undefined;
  readonly epochs?: number | undefined;
}

/** Steps that pass over the rows `epochs` times at least: the last batch wraps. Throws DataError where they are too many. */
export function stepsOver(rows: number, { name, data, batch, steps, epochs = 1 }: Passing): number {
  const all = steps ?? Math.max(1, Math.ceil((epochs * rows) / batch - 1e-9));
  if (all > MOST_STEPS)
    throw new DataError(
      `stage ${name}, dataset ${data}: ${epochs} epochs of ${rows} rows are ${all} steps, more than ${MOST_STEPS}`,
    );
  return all;
}

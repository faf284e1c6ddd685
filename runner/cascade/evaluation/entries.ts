// What is said of an evaluation. One of many tasks is said in several entries: the service takes no report of more than some
// megabytes, and cells are filed one by one whichever entry they come in.
import type { Entry, EvaluationCell } from '../../../api/contract/event.ts';

/** A value takes some twenty bytes of JSON. */
const MOST_VALUES = 200_000;

type Evaluation = Extract<Entry, { type: 'evaluation' }>;

/** A cell of more tasks than an entry can hold goes without their values; gates look at those that checkpoints hold. */
export function evaluationEntries(
  { after, step }: { readonly after: string; readonly step: number | null },
  cells: readonly EvaluationCell[],
): Evaluation[] {
  const parts: EvaluationCell[][] = [];
  let room = 0;
  for (const { values, ...cell } of cells) {
    const told = values !== undefined && values.length <= MOST_VALUES ? values : undefined;
    const size = told?.length ?? 0;
    if (parts.length === 0 || size > room) {
      parts.push([]);
      room = MOST_VALUES;
    }
    parts.at(-1)!.push(told === undefined ? cell : { ...cell, values: told });
    room -= size;
  }
  return parts.map((part) => ({ type: 'evaluation', after, step, cells: part }));
}

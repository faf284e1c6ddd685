// How a stage's micro-batches are cut, told when it changes and not with every step: a step whose lengths and numbers of rows
// were seen before has no news.
import type { Entry } from '../../api/contract/event.ts';
import type { LengthPlan } from '../engine/learner/memory-plan.ts';

type ToldPlan = Extract<Entry, { type: 'micro_batches' }>['plans'][number];

export class PlanNews {
  readonly #rows = new Map<string, number>();

  /** Those of a step that run otherwise, or with more rows, than any of their length before. */
  of(plan: readonly LengthPlan[]): ToldPlan[] {
    return plan.filter((one) => this.#isNew(one)).map(told);
  }

  #isNew({ length, rows, activations, attentionChunk }: LengthPlan): boolean {
    const key = `${length} ${activations} ${attentionChunk}`;
    if (rows <= (this.#rows.get(key) ?? 0)) return false;
    this.#rows.set(key, rows);
    return true;
  }
}

const told = ({ length, rows, activations, attentionChunk, bytes }: LengthPlan): ToldPlan => ({
  length,
  rows,
  activations,
  attention_chunk: attentionChunk,
  bytes,
});

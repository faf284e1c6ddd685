// From the rewards of one group, penalties applied, to what the update makes of it: the advantages. The group is the rollouts
// of one prompt, passed together: nothing is ever grouped by an id that could be wrong.
import { groupAdvantage } from './advantage.ts';
import type { Penalised } from './penalties.ts';

/** A rollout with its reward and what the update makes of it; a null advantage keeps it out of the loss and out of N. */
export interface Judged extends Penalised {
  readonly task: number;
  readonly advantage: number | null;
}

export interface JudgedGroup {
  readonly rollouts_G: readonly Judged[];
  /** Of the rewards after every penalty; null where the group was dropped. */
  readonly std: number | null;
}

/** Masked rollouts stay in mean and std, and leave the loss. */
export function judge(task: number, penalised_G: readonly Penalised[]): JudgedGroup {
  const { advantages_G, std } = groupAdvantage(penalised_G.map(({ reward }) => reward));
  const rollouts_G = penalised_G.map((penalised, g) => ({
    ...penalised,
    task,
    advantage: penalised.inLoss ? advantages_G[g]! : null,
  }));
  return { rollouts_G, std };
}

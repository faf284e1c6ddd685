// From what the graders say of a batch to what the update makes of it: penalties, then advantages within each group. A group is the
// rollouts of one prompt, passed together: nothing is ever grouped by an id that could be wrong.
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import type { Phase } from '../../../api/contract/stages/phase.ts';
import { groupAdvantage } from './advantage.ts';
import { rowOf } from './group.ts';
import type { GradedGroup } from './group.ts';
import { applyPenalties } from './penalties.ts';
import type { Penalised } from './penalties.ts';

/** A rollout with its reward and what the update makes of it; a null advantage keeps it out of the loss and out of N. */
export interface Judged extends Penalised {
  readonly advantage: number | null;
}

export interface Judgement {
  readonly rollouts_G: readonly Judged[];
  /** Of the rewards after every penalty; null where the group was dropped. */
  readonly std: number | null;
}

export type JudgedGroup = Omit<GradedGroup, 'rollouts_G'> & Judgement;

/** In the order given. Rules that look at a batch look at the groups of one source. */
export function judgeBatch(
  { length_control, shaping }: Pick<ExpandedReinforcedStage, 'length_control' | 'shaping'>,
  phase: Phase,
  groups_P: readonly GradedGroup[],
): JudgedGroup[] {
  const judged = new Map<GradedGroup, JudgedGroup>();
  for (const source of new Set(groups_P.map((group) => group.source))) {
    const own = groups_P.filter((group) => group.source === source);
    const penalised_PG = applyPenalties(
      {
        ...phase,
        length_control,
        shaping,
        language_mixing: source.languageMixing,
        preferred: source.rewardModel !== undefined,
      },
      own.map((group) => rowOf(group).prompt),
      own.map(({ rollouts_G }) => rollouts_G),
    );
    own.forEach((group, p) => judged.set(group, { ...group, ...judge(penalised_PG[p]!) }));
  }
  return groups_P.map((group) => judged.get(group)!);
}

/** Masked rollouts stay in mean and std, and leave the loss. */
export function judge(penalised_G: readonly Penalised[]): Judgement {
  const { advantages_G, std } = groupAdvantage(penalised_G.map(({ reward }) => reward));
  const rollouts_G = penalised_G.map((penalised, g) => ({
    ...penalised,
    advantage: penalised.inLoss ? advantages_G[g]! : null,
  }));
  return { rollouts_G, std };
}

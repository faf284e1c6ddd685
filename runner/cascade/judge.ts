// From the grades of one group to what the update makes of it: the overlong policy first, then the advantages. The group
// is the rollouts of one prompt, passed together: nothing is ever grouped by an id that could be wrong.
import type { ExpandedMathStage } from '../../api/contract/expand.ts';
import { groupAdvantage } from './advantage.ts';
import type { Graded } from './grading.ts';
import { applyOverlong } from './overlong.ts';

/** A graded rollout with what the update makes of it; a null advantage keeps it out of the loss and out of N. */
export interface Judged extends Graded {
  readonly task: number;
  readonly advantage: number | null;
}

export interface JudgedGroup {
  readonly rollouts_G: readonly Judged[];
  /** Of the rewards after the overlong policy; null where the group was dropped. */
  readonly std: number | null;
}

/** Masked rollouts stay in mean and std, and leave the loss. */
export function judge(
  stage: Pick<ExpandedMathStage, 'overlong' | 'max_response'>,
  task: number,
  graded_G: readonly Graded[],
): JudgedGroup {
  const adjusted_G = graded_G.map(({ reward, rollout }) =>
    reward === null
      ? null
      : applyOverlong(stage.overlong, reward, rollout.response.length, rollout.truncated, stage.max_response),
  );
  const { advantages_G, std } = groupAdvantage(adjusted_G.map((adjusted) => adjusted?.reward ?? null));
  const rollouts_G = graded_G.map((graded, g) => ({
    ...graded,
    reward: adjusted_G[g]?.reward ?? null,
    task,
    advantage: adjusted_G[g]?.inLoss === true ? advantages_G[g]! : null,
  }));
  return { rollouts_G, std };
}

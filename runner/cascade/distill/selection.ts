// Which rollouts a step learns from, and has teachers score.
import type { DistillStepOptions } from './options.ts';
import type { SampledRollout } from './rollouts.ts';
import { withinBudget } from './token-budget.ts';

export interface Selection {
  readonly trained: readonly SampledRollout[];
  /** By budgets. */
  readonly leftOut: ReadonlySet<SampledRollout['rollout']>;
}

/** What a filter leaves out takes no budget. */
export function selectRollouts(
  { stage, sources }: Pick<DistillStepOptions, 'stage' | 'sources'>,
  rollouts: readonly SampledRollout[],
): Selection {
  const usable = rollouts.filter(
    ({ rollout }) => rollout.response.length > 0 && !(stage.overlong === 'filter' && rollout.truncated),
  );
  const leftOut = new Set(
    sources.flatMap((source) => {
      const own = usable.filter((one) => one.source === source);
      const within = withinBudget(
        own.map(({ rollout }) => rollout.response.length),
        source.tokenBudget,
      );
      return own.flatMap(({ rollout }, i) => (within[i] === true ? [] : [rollout]));
    }),
  );
  return { trained: usable.filter(({ rollout }) => !leftOut.has(rollout)), leftOut };
}

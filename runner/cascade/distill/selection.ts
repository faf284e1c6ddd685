// Which of the answers a step learns from, and asks teachers about.
import type { Answer } from './answers.ts';
import type { DistillStep } from './options.ts';
import { withinBudget } from './token-budget.ts';

export interface Chosen {
  readonly learnt: readonly Answer[];
  /** By budgets. */
  readonly left: ReadonlySet<Answer['rollout']>;
}

/** What a filter leaves out takes no budget. */
export function chosenAnswers(
  { stage, sources }: Pick<DistillStep, 'stage' | 'sources'>,
  answers: readonly Answer[],
): Chosen {
  const usable = answers.filter(
    ({ rollout }) => rollout.response.length > 0 && !(stage.overlong === 'filter' && rollout.truncated),
  );
  const left = new Set(
    sources.flatMap((source) => {
      const own = usable.filter((answer) => answer.source === source);
      const within = withinBudget(
        own.map(({ rollout }) => rollout.response.length),
        source.tokenBudget,
      );
      return own.flatMap(({ rollout }, i) => (within[i] === true ? [] : [rollout]));
    }),
  );
  return { learnt: usable.filter(({ rollout }) => !left.has(rollout)), left };
}

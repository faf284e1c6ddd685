// Where the prompts of a distill stage come from: one source a domain, and, where rewards are mixed in, the same source with a grader.
import type { ExpandedDistillStage } from '../../../api/contract/expand.ts';
import { createGrader } from '../../rewards/grade.ts';
import type { Means } from '../../rewards/means.ts';
import type { Datasets } from '../host.ts';
import type { Policy } from '../policy.ts';
import { openPrompts } from '../rl/source.ts';
import type { PromptSource, Source } from '../rl/source.ts';

export interface DistilledSource extends PromptSource {
  readonly tokenBudget: number | undefined;
  /** Undefined: no rollout is graded. */
  readonly graded: Source | undefined;
}

/** Throws DataError naming the row that has no room for a response. */
export const openDistilledSources = (
  policy: Policy,
  stage: ExpandedDistillStage,
  data: Datasets,
  means: Means,
): DistilledSource[] =>
  stage.domains.map((given, index) => {
    const { domain, data: dataset, weight, mode, token_budget: tokenBudget } = given;
    const named = { domain, data: dataset, weight, mode };
    const opened = openPrompts(policy, named, data, { stage, maxResponse: stage.max_response });
    const source = { ...named, ...opened };
    const grader = mixesRewards(stage) ? given.grader : undefined;
    const graded = grader && {
      ...source,
      pointer: `/domains/${index}`,
      grader,
      verifier: createGrader(grader, means),
      languageMixing: 'off' as const,
      rewardModel: undefined,
    };
    return { ...source, tokenBudget, graded };
  });

export const mixesRewards = ({ objective }: Pick<ExpandedDistillStage, 'objective'>): boolean =>
  objective.type === 'policy_gradient' && objective.reward_weight > 0;

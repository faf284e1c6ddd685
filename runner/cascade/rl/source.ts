// A source of tasks, opened: its rows, who grades them, and their prompts in every mode that the stage asks for.
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import { sourcesOf } from '../../../api/contract/sources.ts';
import type { TaskSource } from '../../../api/contract/sources.ts';
import { phasesOf } from '../../../api/contract/stages/phase.ts';
import type { Task } from '../../../api/contract/task.ts';
import type { ThinkingMode } from '../../engine/tokenizer/thinking.ts';
import { createGrader } from '../../rewards/grade.ts';
import type { Means } from '../../rewards/means.ts';
import type { Verifier } from '../../rewards/verifier.ts';
import { withPreference } from '../../rewards/with-preference.ts';
import type { Policy } from '../policy.ts';
import { roomyPrompts } from '../prompt.ts';
import type { Datasets } from '../host.ts';

export interface Source extends TaskSource {
  readonly rows: readonly Task[];
  readonly verifier: Verifier;
  /** Tokens of each row's prompt, by the mode it asks for (undefined: for none). */
  readonly prompts: ReadonlyMap<ThinkingMode | undefined, readonly Int32Array[]>;
}

/** The modes of a source's prompts. */
export const modesOf = ({ mode }: Pick<TaskSource, 'mode'>): readonly (ThinkingMode | undefined)[] =>
  mode === 'half_half' ? ['thinking', 'non_thinking'] : [mode];

/** The source's grader and, beside it, the reward model that the source names. */
function verifierOf({ grader, rewardModel }: TaskSource, means: Means): Verifier {
  const verifier = createGrader(grader, means);
  if (rewardModel === undefined) return verifier;
  return withPreference(verifier, createGrader({ type: 'preference', model: rewardModel }, means));
}

/** Throws DataError naming the row that has no room for a response. */
export function openSources(
  policy: Policy,
  stage: ExpandedReinforcedStage,
  data: Datasets,
  means: Means,
): Source[] {
  const maxResponse = Math.max(...phasesOf(stage).map(({ max_response }) => max_response));
  return sourcesOf(stage).map((source) => {
    const rows = data.tasks(source.data);
    const where = `stage ${stage.name}, dataset ${source.data}`;
    const promptsIn = (mode: ThinkingMode | undefined) =>
      roomyPrompts(policy, rows, { format: stage.prompt_format, maxResponse, mode }, where);
    return {
      ...source,
      rows,
      verifier: verifierOf(source, means),
      prompts: new Map(modesOf(source).map((mode) => [mode, promptsIn(mode)])),
    };
  });
}

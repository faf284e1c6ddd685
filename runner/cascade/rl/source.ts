// A source of tasks, opened: its rows, who grades them, and their prompts in every mode that the stage asks for.
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import { sourcesOf } from '../../../api/contract/sources.ts';
import type { TaskSource } from '../../../api/contract/sources.ts';
import type { PromptFormat } from '../../../api/contract/stages/common.ts';
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

/** What rollouts are drawn for; nobody need grade them. */
export interface PromptSource extends Pick<TaskSource, 'domain' | 'data' | 'weight' | 'mode'> {
  readonly rows: readonly Task[];
  /** Tokens of each row's prompt, by the mode it asks for (undefined: for none). */
  readonly prompts: ReadonlyMap<ThinkingMode | undefined, readonly Int32Array[]>;
}

export interface Source extends TaskSource, PromptSource {
  readonly verifier: Verifier;
}

/** The modes of a source's prompts. */
export const modesOf = ({ mode }: Pick<TaskSource, 'mode'>): readonly (ThinkingMode | undefined)[] =>
  mode === 'half_half' ? ['thinking', 'non_thinking'] : [mode];

export interface Prompting {
  readonly stage: { readonly name: string; readonly prompt_format: PromptFormat };
  /** Room that every prompt has to leave. */
  readonly maxResponse: number;
}

/** Throws DataError naming the row that has no room for a response. */
export function openPrompts(
  policy: Policy,
  { data, mode }: Pick<TaskSource, 'data' | 'mode'>,
  datasets: Datasets,
  { stage, maxResponse }: Prompting,
): Pick<PromptSource, 'rows' | 'prompts'> {
  const rows = datasets.tasks(data);
  const where = `stage ${stage.name}, dataset ${data}`;
  const promptsIn = (one: ThinkingMode | undefined) =>
    roomyPrompts(policy, rows, { format: stage.prompt_format, maxResponse, mode: one }, where);
  return { rows, prompts: new Map(modesOf({ mode }).map((one) => [one, promptsIn(one)])) };
}

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
  return sourcesOf(stage).map((source) => ({
    ...source,
    ...openPrompts(policy, source, data, { stage, maxResponse }),
    verifier: verifierOf(source, means),
  }));
}

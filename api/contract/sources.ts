// Where the tasks of an RL stage come from, whatever its kind: one source, or one for each of its domains.
import type { Grader } from './grader.ts';
import type { Stage } from './stage.ts';
import type { StageMode } from './stages/common.ts';
import type { LanguageMixing } from './stages/reinforced.ts';

export type ReinforcedStage = Exclude<Stage, { kind: 'sft' | 'distill' }>;

export interface TaskSource {
  /** JSON pointer from the stage on; empty where the stage itself is the source. */
  readonly pointer: string;
  readonly domain: string;
  readonly data: string;
  readonly grader: Grader;
  /** Share of every batch, relative to the other sources. */
  readonly weight: number;
  readonly mode: StageMode | undefined;
  readonly languageMixing: LanguageMixing;
  /** Checkpoint of the reward model whose score is added to what the grader gives, where there is one. */
  readonly rewardModel: string | undefined;
}

/** What a stage's evaluations count for where it does not say. */
export const domainOf = ({ kind, domain }: { kind: string; domain?: string | undefined }): string =>
  domain ?? (kind === 'rlhf' ? 'chat' : kind);

export function sourcesOf(stage: ReinforcedStage): TaskSource[] {
  if (stage.kind === 'multi_domain' || stage.kind === 'mixed')
    return stage.domains.map((source, index) => ({
      pointer: `/domains/${index}`,
      domain: source.domain,
      data: source.data,
      grader: source.grader,
      weight: source.weight,
      mode: source.mode,
      languageMixing: source.language_mixing ?? mixingOf(source.grader),
      rewardModel: undefined,
    }));
  return [
    {
      pointer: '',
      domain: domainOf(stage),
      data: stage.data,
      grader: stage.grader,
      weight: 1,
      mode: stage.mode,
      languageMixing: stage.language_mixing ?? mixingOf(stage.grader),
      rewardModel: stage.kind === 'instruction' ? stage.reward_model : undefined,
    },
  ];
}

/**
 * The rules of Nemotron-Cascade (arXiv 2512.13607, sections 4.3-4.6), by grader, which says better than the stage's name what is
 * trained. Where it gives none there is none: instructions may ask for another language, patches are code.
 */
const mixingByGrader: Readonly<Partial<Record<Grader['type'], LanguageMixing>>> = {
  math: 'minus_one',
  code: 'zero',
  preference: 'batch_minimum',
};

export const mixingOf = ({ type }: Grader): LanguageMixing => mixingByGrader[type] ?? 'off';

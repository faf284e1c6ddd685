// Which stage of an expanded spec repairs which: a stage `repairs` the one before it, where a gate after that one says `distill`.
import type { ExpandedStage } from './expand.ts';

/** What a stage repairs; undefined where it runs in any case. */
export const repairsOf = (stage: ExpandedStage | undefined): string | undefined =>
  stage?.kind === 'distill' ? stage.repairs : undefined;

/** The stage that repairs the one of this name, where there is one. */
export const repairOf = (stages: readonly ExpandedStage[], name: string): ExpandedStage | undefined =>
  stages.find((stage) => repairsOf(stage) === name);

/** What the stage of this name repairs; undefined where it is no repair, or no stage. */
export const repairedBy = (stages: readonly ExpandedStage[], name: string): string | undefined =>
  repairsOf(stages.find((stage) => stage.name === name));

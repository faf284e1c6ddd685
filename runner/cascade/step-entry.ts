// What is said of a step, updated or skipped.
import type { Entry } from '../../api/contract/event.ts';
import type { ExpandedStage } from '../../api/contract/expand.ts';
import { isDistilled, isReinforced } from '../../api/contract/stage-kinds.ts';
import { sourcesOf } from '../../api/contract/sources.ts';
import type { StageMode } from '../../api/contract/stages/common.ts';
import type { StepResult } from './stage-run.ts';

export function stepEntry(stage: ExpandedStage, phase: number, step: number, result: StepResult): Entry {
  const mode = modeOf(stage);
  const told = {
    ...{ stage: stage.name, phase, step, mode },
    metrics: finite(result.metrics),
    ...(result.modes === undefined
      ? {}
      : {
          modes: Object.fromEntries(
            Object.entries(result.modes).map(([of, metrics]) => [of, finite(metrics)]),
          ),
        }),
  };
  return result.type === 'updated'
    ? { type: 'step', ...told }
    : { type: 'step_skipped', cause: result.cause, ...told };
}

/** Several domains in different modes are filed as half_half: `modes` tells them apart. */
function modeOf(stage: ExpandedStage): StageMode {
  const modes = new Set(modesAsked(stage).map((mode) => mode ?? 'non_thinking'));
  const [only = 'non_thinking', ...others] = modes;
  return others.length === 0 ? only : 'half_half';
}

function modesAsked(stage: ExpandedStage): readonly (StageMode | undefined)[] {
  if (isReinforced(stage)) return sourcesOf(stage).map(({ mode }) => mode);
  if (isDistilled(stage)) return stage.domains.map(({ mode }) => mode);
  return stage.kind === 'sft' ? [stage.mode] : [];
}

const finite = (metrics: Readonly<Record<string, number>>): Record<string, number | null> =>
  Object.fromEntries(
    Object.entries(metrics).map(([key, value]) => [key, Number.isFinite(value) ? value : null]),
  );

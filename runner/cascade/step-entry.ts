// What is said of a step, updated or skipped.
import type { z } from 'zod';
import type { Entry, stepMode } from '../../api/contract/event.ts';
import type { ExpandedStage } from '../../api/contract/expand.ts';
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
function modeOf(stage: ExpandedStage): z.infer<typeof stepMode> {
  const given =
    'domains' in stage ? stage.domains.map(({ mode }) => mode) : ['mode' in stage ? stage.mode : undefined];
  const modes = [...new Set(given.map((mode) => mode ?? 'non_thinking'))];
  return modes.length === 1 ? modes[0]! : 'half_half';
}

const finite = (metrics: Readonly<Record<string, number>>): Record<string, number | null> =>
  Object.fromEntries(
    Object.entries(metrics).map(([key, value]) => [key, Number.isFinite(value) ? value : null]),
  );

// What is said of a step, updated or skipped.
import type { Entry } from '../../api/contract/event.ts';
import type { ExpandedStage } from '../../api/contract/expand.ts';
import type { StepResult } from './stage-run.ts';

export function stepEntry(stage: ExpandedStage, phase: number, step: number, result: StepResult): Entry {
  const mode = ('mode' in stage ? stage.mode : undefined) ?? 'non_thinking';
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

const finite = (metrics: Readonly<Record<string, number>>): Record<string, number | null> =>
  Object.fromEntries(
    Object.entries(metrics).map(([key, value]) => [key, Number.isFinite(value) ? value : null]),
  );

// Which phase of a stage a step is in.
import type { Phase } from '../../../api/contract/stages/phase.ts';

/** `step` is 1 for the first of the stage. */
export function phaseAt(
  phases: readonly Phase[],
  step: number,
): { readonly phase: Phase; readonly index: number } {
  let end = 0;
  for (const [index, phase] of phases.entries()) {
    end += phase.steps;
    if (step <= end) return { phase, index };
  }
  throw new Error(`internal: step ${step} of a stage of ${end} steps`);
}

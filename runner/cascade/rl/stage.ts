// An RL stage of any kind: its sources of tasks, opened and checked, and the loop over them. What tells the kinds apart is said in
// the spec (api/contract/stages/): who grades, where tasks come from, which defaults.
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import { phasesOf, stepsOf } from '../../../api/contract/stages/phase.ts';
import type { Policy } from '../policy.ts';
import type { Datasets } from '../host.ts';
import type { StageRun } from '../stage-run.ts';
import type { RunOptions } from './options.ts';
import { phaseAt } from './phase-at.ts';
import { Reference } from './reference.ts';
import { reinforce } from './reinforce.ts';
import { sharesOf } from './shares.ts';
import { openSources } from './source.ts';
import { lineOptionsOf, TaskLines } from './task-lines.ts';

/** Throws DataError for rows that the stage could not use. */
export function reinforcedStage(
  policy: Policy,
  stage: ExpandedReinforcedStage,
  data: Datasets,
  options: RunOptions,
): StageRun {
  const phases = phasesOf(stage);
  const sources = openSources(policy, stage, data, options.means);
  const sharesAt = sharesOf(sources, stage.prompts_per_step);
  const lineOptions = lineOptionsOf(stage, sources, options.seed);
  const reference = stage.kl > 0 ? new Reference(policy.learner) : undefined;
  const fixed = { policy, stage, sources, phases, sharesAt, reference, ...options };
  let lines = TaskLines.first(lineOptions);
  return {
    steps: stepsOf(stage),
    phaseOf: (step) => phaseAt(phases, step).index,
    async begin(carried) {
      await reference?.open(carried);
      if (carried !== undefined) lines = TaskLines.from(lineOptions, carried.state);
    },
    async step(step) {
      // A step that rewards stayed away from has taken no task.
      const taken = lines.copy();
      const result = await reinforce({ ...fixed, lines: taken }, step);
      lines = taken;
      return result;
    },
    carried: () => ({ state: lines.state, ...reference?.carried }),
    end: () => reference?.close(),
  };
}

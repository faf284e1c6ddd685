// A stage of distillation: its domains opened and checked, the teacher of each chosen when it begins, and the loop over them.
import type { ExpandedDistillStage } from '../../../api/contract/expand.ts';
import type { Datasets } from '../host.ts';
import type { Policy } from '../policy.ts';
import { sharesOf } from '../rl/shares.ts';
import { lineOptionsOf, TaskLines } from '../rl/task-lines.ts';
import type { StageRun } from '../stage-run.ts';
import type { DistillOptions } from './options.ts';
import { checkRoom } from './room.ts';
import { openDistilledSources } from './sources.ts';
import { distillStep } from './step.ts';
import { carriedOf, stateFrom } from './state.ts';
import type { DistillState } from './state.ts';
import { TeacherPool } from './teacher-pool.ts';
import { chooseTeachers } from './teachers.ts';

/** Throws DataError for rows that the stage could not use, TeacherTooShort for those that a teacher could not. */
export function distillStage(
  policy: Policy,
  stage: ExpandedDistillStage,
  data: Datasets,
  options: DistillOptions,
): StageRun {
  const sources = openDistilledSources(policy, stage, data, options.means);
  if (options.host.teachers !== undefined) checkRoom(stage, sources, options.host.teachers);
  const sharesAt = sharesOf(sources, stage.prompts_per_step);
  const lineOptions = lineOptionsOf({ name: stage.name, filter: { type: 'off' } }, sources, options.seed);
  const fixed = { policy, stage, sources, sharesAt, ...options };
  let begun: { readonly pool: TeacherPool; state: DistillState } | undefined;
  const current = () => {
    if (begun === undefined) throw new Error(`internal: the stage ${stage.name} has not begun`);
    return begun;
  };
  return {
    steps: stage.steps,
    async begin(carried) {
      const state =
        carried === undefined ? firstState(lineOptions, fixed) : stateFrom(lineOptions, carried.state);
      begun = { pool: poolOf(options, state), state };
      await begun.pool.openEach();
      if (carried === undefined)
        options.host.emit({ type: 'teachers', stage: stage.name, teachers: [...state.teachers] });
    },
    async step(step) {
      const { pool, state } = current();
      // A step that rewards stayed away from has taken no task.
      const taken = { ...state, lines: state.lines.copy(), measured: new Set(state.measured) };
      const result = await distillStep({ ...fixed, ...taken, pool }, step);
      current().state = taken;
      return result;
    },
    carried: () => ({ state: carriedOf(current().state) }),
    end() {
      begun?.pool.close();
      begun = undefined;
    },
  };
}

const firstState = (
  lineOptions: Parameters<typeof TaskLines.first>[0],
  { stage, matrix }: Pick<DistillOptions, 'matrix'> & { readonly stage: ExpandedDistillStage },
): DistillState => ({
  lines: TaskLines.first(lineOptions),
  teachers: chooseTeachers(stage, matrix.evaluations),
  measured: new Set(),
});

function poolOf({ host }: Pick<DistillOptions, 'host'>, { teachers }: DistillState): TeacherPool {
  if (host.teachers === undefined) throw new Error('internal: a stage that distils was given no teachers');
  return new TeacherPool(
    host.teachers,
    teachers.map(({ teacher }) => teacher),
  );
}

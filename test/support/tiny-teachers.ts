// Teachers of the tiny policy: ends of stages that a run has come to, and weights from outside, each a real scorer.
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import type { Teachers } from '../../runner/cascade/host.ts';
import type { Learner } from '../../runner/engine/learner/learner.ts';
import { Scorer } from '../../runner/engine/learner/scorer.ts';
import { namedViews } from '../../runner/engine/models/parameters.ts';
import type { Arena } from '../../runner/engine/models/parameters.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import type { Snapshot } from './recording-host.ts';

export interface TinyTeachers {
  readonly atOnce: number;
  /** Snapshots among which ends of stages are found; may grow. */
  readonly ends: () => readonly Snapshot[];
  /** All weights of a model of the learner's shape, by the name of the teacher. */
  readonly outside: Readonly<Record<string, Arena>>;
  /** Of teachers from outside that have fewer than the learner. */
  readonly positions: Readonly<Record<string, number>>;
  /** Told of every teacher opened. */
  readonly opened: (teacher: string) => void;
}

export function tinyTeachers(
  runtime: Runtime,
  learner: Learner,
  spec: Pick<ExpandedSpec, 'stages'>,
  {
    atOnce = Infinity,
    ends = () => [],
    outside = {},
    positions = {},
    opened = () => undefined,
  }: Partial<TinyTeachers> = {},
): Teachers {
  const endOf = (name: string): Arena | undefined => {
    const index = spec.stages.findIndex((stage) => `stage:${stage.name}` === name);
    return ends().findLast(({ point, kind }) => point.stageIndex === index && kind !== 'step')?.state.weights;
  };
  return {
    atOnce,
    positionsOf: (teacher) => positions[teacher],
    async open(teacher) {
      const weights = outside[teacher] ?? endOf(teacher);
      if (weights === undefined) throw new Error(`there is no teacher ${teacher}`);
      opened(teacher);
      const { layout } = learner.weights;
      return await Scorer.create(runtime, learner.config, namedViews(layout, weights));
    },
  };
}

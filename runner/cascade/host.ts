// What a run is given by whoever runs it: the process around it, and rows by the names of their datasets.
import type { Entry } from '../../api/contract/event.ts';
import type { Progress } from '../../api/contract/job.ts';
import type { SampleLine } from '../../api/contract/results.ts';
import type { SftRow, Task } from '../../api/contract/task.ts';
import type { Scorer } from '../engine/learner/scorer.ts';
import type { Clock } from './outage.ts';
import type { Carried, Point, PointKind } from './point.ts';

/** Frozen models that score what the policy says. */
export interface Teachers {
  /**
   * A teacher as events name it: the end of a stage of this job ("stage:NAME", which must have been committed or be about to), a
   * checkpoint's id, a URI. The caller ends it. Throws InvalidModel where there is none, or one of another vocabulary.
   */
  open(teacher: string): Promise<Scorer>;
  /** How many may be open at a time beside what trains; at least 1. */
  readonly atOnce: number;
  /** Tokens of a sequence that it scores, known before it is opened; undefined of an end of a stage, which is as the policy. */
  positionsOf(teacher: string): number | undefined;
}

/** What the cascade asks of the process it runs in. */
export interface Host {
  readonly clock: Clock;
  /** Absent where no stage of the job distils. */
  readonly teachers?: Teachers;
  /** A sign of life during long work; entries and progress are signs of life too. */
  alive(): void;
  /** Is the run to end after the step, or the suite of an evaluation, at work? */
  pauseAsked(): boolean;
  emit(entry: Entry): void;
  progress(progress: Progress): void;
  /** Keeps the rollouts of a step. */
  samples(
    lines: readonly SampleLine[],
    at: { stageIndex: number; stage: string; phase: number; step: number },
  ): Promise<void>;
  /** Returns once weights, moments and `carried` have been copied to where training cannot change them. */
  snapshot(point: Point, kind: PointKind, carried: Carried): Promise<void>;
}

export interface Datasets {
  sft(id: string): readonly SftRow[];
  /** Rows that graders grade, of whatever kind. */
  tasks(id: string): readonly Task[];
}

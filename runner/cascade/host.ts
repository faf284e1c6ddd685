// What a run is given by whoever runs it: the process around it, and rows by the names of their datasets.
import type { Entry } from '../../api/contract/event.ts';
import type { Progress } from '../../api/contract/job.ts';
import type { SampleLine } from '../../api/contract/results.ts';
import type { SftRow, Task } from '../../api/contract/task.ts';
import type { Clock } from './outage.ts';
import type { Carried, Point, PointKind } from './point.ts';

/** What the cascade asks of the process it runs in. */
export interface Host {
  readonly clock: Clock;
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

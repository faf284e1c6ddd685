// One way to score answers to tasks of one kind. An implementation says what an answer is worth; it knows no stage, no group
// and no policy. It never throws for what a model wrote, and what hangs it costs the time limit of that one answer.
import type { Task } from '../../api/contract/task.ts';
import type { Reward } from './reward.ts';

export interface Verifier<Row = Task> {
  /** `response` is the answer's text without the end-of-sequence token; the thinking block, if any, is still in it. */
  grade(task: Row, response: string): Promise<Reward>;
  /** Does one response to one task get the same reward whenever it is asked about? Models and services may answer otherwise. */
  readonly isDeterministic?: boolean;
  /** What the task's own gold is worth; nothing scores higher. */
  maxScore(task: Row): number;
  /** A response that must reach `maxScore`; undefined where the row carries no solution. */
  goldResponse(task: Row): string | undefined;
  /**
   * Where answers are worth what they are beside one another, and nothing by themselves: `size` answers to one task, which are then graded
   * here and not by `grade`.
   */
  group?(task: Row, size: number): GroupGrading;
  /** Why no answer to this row could be graded, for registration; absent where the schema says all. Rejects where it cannot tell. */
  rowFault?(task: Row): Promise<string | undefined>;
}

/** The answers of one group; each may be told as soon as it is there. */
export interface GroupGrading {
  /** What answer `index` is worth, once all that it is compared with are there. Of an unscored one it may be asked again. */
  grade(index: number, response: string): Promise<Reward>;
}

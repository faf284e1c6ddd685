// What a domain of the small world gives: tasks without end, each with a response that deserves the grader's maximum and
// one that does not. Supervised data mixes both, so that reinforcement has something to sort out.
import type { Task } from '../../api/contract/task.ts';

/** A response in both forms: with its thinking, and the answer alone. */
export interface Response {
  readonly thinking: string;
  readonly answer: string;
}

export interface Item<Row extends Task = Task> {
  readonly row: Row;
  readonly good: Response;
  readonly flawed: Response;
}

export interface Domain<Row extends Task = Task> {
  readonly name: DomainName;
  /** What its supervised responses show: both modes in turn, or one. */
  readonly mode: 'half_half' | 'thinking' | 'non_thinking';
  /** Share of flawed responses among the supervised ones. */
  readonly flawedShare: number;
  /** Tasks to reinforce on. */
  readonly train: number;
  /** Rows of supervised data. */
  readonly supervised: number;
  /** The n-th task; two may be the same. */
  item(n: number): Item<Row>;
}

export const domainNames = ['chat', 'instruction', 'math', 'code', 'swe'] as const;
export type DomainName = (typeof domainNames)[number];

export const thought = ({ thinking, answer }: Response): string => `<think>${thinking}</think>${answer}`;

// What a back end is: it runs at once what it is told to. Turns, canaries and choice are the same for all (open.ts).
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { BackEnd, Conversation, Limits, Program, Run } from './sandbox.ts';

/** A program with all its limits. */
export type LimitedProgram = Program & { readonly limits: Limits };

export interface Executor {
  readonly backEnd: BackEnd;
  readonly languages: readonly CodeLanguage[];
  run(program: LimitedProgram): Promise<Run>;
  converse(judge: LimitedProgram, candidate: LimitedProgram): Promise<Conversation>;
  close(): Promise<void>;
}

export const down = (cause: unknown): Run => ({
  status: 'down',
  cause: cause instanceof Error ? cause.message : String(cause),
});

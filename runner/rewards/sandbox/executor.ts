// What a back end is: it runs at once what it is told to. Turns, canaries and choice are the same for all (open.ts).
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { BackEnd, Conversation, Limits, Program, Run } from './sandbox.ts';

/** A program with all its limits. */
export type LimitedProgram = Program & { readonly limits: Limits };

export interface Executor {
  readonly backEnd: BackEnd;
  /** Why not, before a canary is even tried. */
  whyNot(language: CodeLanguage): Promise<string | undefined>;
  /** What its complaints mean to who runs the machine. */
  withAdvice(complaint: string): string;
  run(program: LimitedProgram): Promise<Run>;
  converse(judge: LimitedProgram, candidate: LimitedProgram): Promise<Conversation>;
  /** As the sandbox says it. */
  cpuSeconds(): number;
  close(): Promise<void>;
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

export const down = (cause: unknown): Run => ({ status: 'down', cause: messageOf(cause) });

/** A back end that could not even be made ready. */
export const broken = (backEnd: BackEnd, cause: unknown): Executor => ({
  backEnd,
  whyNot: async () => `the ${backEnd} back end cannot be set up: ${messageOf(cause)}`,
  withAdvice: (complaint) => complaint,
  run: async () => down(cause),
  converse: async () => ({ judge: down(cause), candidate: down(cause) }),
  cpuSeconds: () => 0,
  close: async () => {},
});

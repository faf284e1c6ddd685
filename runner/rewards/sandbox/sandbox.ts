// A place to run programs that nobody trusts. It says what a program did, never whether that is right.
// What a program prints can be forged by the program: who needs a verdict lets a judge of his own talk to the
// program from another sandbox (`converse`), where nothing of the program can reach it. ADR 0015.
import type { CodeLanguage } from '../../../api/contract/grader.ts';

export interface Program {
  readonly language: CodeLanguage;
  /** Source text. Runs as the main module (`__main__`, `require.main`) in a scratch folder that is its own. */
  readonly main: string;
  /** Other files of the scratch folder by flat name; Python imports them as modules, Node by `./name`. */
  readonly files?: Readonly<Record<string, string>>;
  /** A regular file on descriptor 0, so that `/dev/stdin` can be opened. Empty if absent. */
  readonly stdin?: string;
  readonly limits?: Partial<Limits>;
}

/** Of one sandbox with all its processes, except where it says otherwise. */
export interface Limits {
  readonly cpuSeconds: number;
  /** A backstop against sleeping; a correct answer on a busy machine must not reach it. */
  readonly wallSeconds: number;
  readonly memoryBytes: number;
  /** Of standard output, of standard error and of the report, each. */
  readonly outputBytes: number;
  /** Of one file. */
  readonly fileBytes: number;
  /** Threads count. */
  readonly processes: number;
  /** Of one process. */
  readonly openFiles: number;
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  /**
   * What was written to descriptor 3. As trustworthy as everything that runs in this sandbox: in a run by itself the
   * program can write it; as judge of a conversation nothing but the judge can.
   */
  readonly report: string;
  /** Of all its processes, sampled: up to 0.1 s too small. */
  readonly cpuSeconds: number;
}

/** `signal`: a crash or a signal that it sent to itself. `memory` in Python is mostly a MemoryError, so an exit. */
export type StoppedBy = 'cpu' | 'wall' | 'memory' | 'output' | 'signal';

export type Run =
  | ({ readonly status: 'exited'; readonly code: number } & Output)
  | ({ readonly status: 'stopped'; readonly by: StoppedBy } & Output)
  /** Our fault: the program was not run. */
  | { readonly status: 'down'; readonly cause: string };

export interface Conversation {
  readonly judge: Run;
  readonly candidate: Run;
}

export type BackEnd = 'bubblewrap' | 'quickjs';

/** Runs wait for one of `slots` turns in the order of their calls; neither call throws for what a program does. */
export interface Sandbox {
  readonly backEnd: BackEnd;
  /** Those whose canary passed. */
  readonly languages: readonly CodeLanguage[];
  /** Why a language is not in `languages` and what to do about it. */
  readonly missing: Readonly<Partial<Record<CodeLanguage, string>>>;
  readonly limits: Limits;
  readonly slots: number;
  run(program: Program): Promise<Run>;
  /**
   * Two programs in two sandboxes that share nothing but a byte stream, for one turn. Under bubblewrap it is descriptor 4
   * of each, blocking (Python `os.read(4, n)`, Node `fs.readSync(4, buffer)`); it ends (reads give 0 bytes) when the other
   * one has gone. In QuickJS it is `host.readLine()` (blocks; undefined at the end) and `host.write(4, text)`.
   * When the judge exits or is stopped, the candidate is stopped with it (`signal`); the reverse does
   * not hold. One that ended before, or reached a limit, says so.
   */
  converse(judge: Program, candidate: Program): Promise<Conversation>;
  /** A known program under the limits of every run. Not `undefined`: why it failed, so that odd runs are our fault. */
  canary(language: CodeLanguage): Promise<string | undefined>;
  /**
   * Core-seconds of all runs that have ended since it was opened, with what it took to start them. Of processes what they
   * compute after their last output is missing: a tenth of the smallest programs, next to nothing of others. Of a thread that was
   * stopped, time in which it did not wait counts as computing.
   */
  cpuSeconds(): number;
  close(): Promise<void>;
}

/**
 * In QuickJS a program has no `require`, no `console`, no `process`; it has the global `host`. Under bubblewrap
 * JavaScript and TypeScript are Node.js with all its modules, and a program reads and writes descriptors.
 */
export interface QuickJsHost {
  stdin(): string;
  /** 1 standard output, 2 standard error, 3 the report, 4 the other side of a conversation. */
  write(descriptor: 1 | 2 | 3 | 4, text: string): void;
  /** The next line from the other side without its line feed. */
  readLine(): string | undefined;
}

export interface SandboxOptions {
  /** The first of them that can be had; both if absent, bubblewrap first. */
  readonly backEnds?: readonly BackEnd[];
  /** Runs at a time; the number of cores if absent. */
  readonly slots?: number;
  readonly limits?: Partial<Limits>;
}

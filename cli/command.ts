// A command as data: what it takes, and what it does. Parsing, help and errors are the same for all (parse.ts, help.ts).
import type { ExitCode } from './exit-code.ts';

export interface Flag {
  readonly type: 'string' | 'boolean';
  /** Placeholder of a string's value in the help. */
  readonly value?: string;
  readonly help: string;
}

export interface Argument {
  readonly name: string;
  readonly help: string;
}

/** What the user gave. */
export interface Given {
  /** Value of an argument; every argument of the command is there. */
  argument(name: string): string;
  /** Value of a string flag, undefined where it was not given. */
  text(flag: string): string | undefined;
  on(flag: string): boolean;
}

export interface Command {
  /** As typed after `millrace`; may hold a space. */
  readonly name: string;
  readonly summary: string;
  /** More lines for the command's own help. */
  readonly details?: string;
  readonly arguments: readonly Argument[];
  readonly flags: Readonly<Record<string, Flag>>;
  /**
   * `interrupt` is aborted by Ctrl-C, SIGTERM and a closed terminal: the command must then end soon. `hurry` is aborted
   * by the second of them: at once.
   */
  run(given: Given, interrupt: AbortSignal, hurry: AbortSignal): Promise<ExitCode>;
}

/** The flag of every command that talks to a service. */
export const dataDirFlag = {
  'data-dir': {
    type: 'string',
    value: 'DIR',
    help: 'data directory of a local service (default: $MILLRACE_DATA, else .millrace)',
  },
} as const satisfies Record<string, Flag>;

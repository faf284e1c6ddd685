// The log of the API: lines of JSON. Errors are told with what they came from, but never with the values of a statement,
// among which are secrets and other people's data: Drizzle puts them into its messages.
import type { Logger } from 'pino';
import { pino } from 'pino';

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: LoggedError | string;
}

const withoutParams = (text: string): string => text.replace(/\nparams: [\s\S]*?(?=\n\s+at |$)/, '');

export function errorForLog(error: unknown): LoggedError | string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: withoutParams(error.message),
    ...(typeof code === 'string' && { code }),
    ...(error.stack !== undefined && { stack: withoutParams(error.stack) }),
    ...(error.cause !== undefined && { cause: errorForLog(error.cause) }),
  };
}

const serializers = { err: errorForLog };

/** To standard output, or line by line to `destination`. */
export const createLog = (level: string, destination?: { write(line: string): void }): Logger =>
  destination === undefined
    ? pino({ level, base: undefined, serializers })
    : pino({ level, base: undefined, serializers }, destination);

/** Through the console, which is where a Worker's platform collects lines. */
export const consoleLog = (level: string): Logger =>
  pino({
    level,
    serializers,
    browser: { serialize: true, write: (line) => console.log(JSON.stringify(line)) },
  });

/** Which job a request is about, as far as its path says. */
export const jobInPath = (path: string): { job?: string } => {
  const job = /\/(job_[0-9a-z]{26})(?:\/|$)/.exec(path)?.[1];
  return job === undefined ? {} : { job };
};

// What the command ends with, so that scripts can tell the outcomes apart. `millrace --help` prints this table.

export const exitCodes = {
  succeeded: 0,
  /** The job failed, or the command could not do what was asked. */
  failed: 1,
  /** Unknown command or option, missing argument. */
  usage: 2,
  /** The job was cancelled. */
  cancelled: 3,
  /** Ctrl-C, as shells report it. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

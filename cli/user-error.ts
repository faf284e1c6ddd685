// Errors that are the user's to mend: they are shown as one or two lines, without a stack.

/** What is wrong, where, and what to do. */
export class UserError extends Error {
  override readonly name: string = 'UserError';
}

/** The command line itself is not understood. */
export class UsageError extends UserError {
  override readonly name = 'UsageError';
}

// Every error as the one or two lines that the user sees. What is not the user's or the service's doing is a fault of
// ours and keeps its stack.
import { ApiError, UnreachableError } from '../api/client.ts';
import { UserError } from './user-error.ts';

export function explainError(error: unknown): string {
  if (error instanceof UserError) return error.message;
  if (error instanceof UnreachableError)
    return `${error.message}\nIs the service running? millrace serve starts one; MILLRACE_URL names another.`;
  if (error instanceof ApiError) return explainProblem(error);
  if (error instanceof Error && isSystemError(error)) return error.message;
  return `a fault of millrace itself: ${error instanceof Error ? error.stack : String(error)}`;
}

function explainProblem({ code, status, detail, issues }: ApiError): string {
  if (code === 'unauthorized')
    return 'the service does not accept the key. Set MILLRACE_KEY, or use the data directory that serve wrote with --data-dir.';
  if (code === 'forbidden') return `the key may not do this: ${detail}`;
  if (code === 'unknown')
    return `${detail} (status ${status}): not an answer of millrace. Does MILLRACE_URL name the service?`;
  // The detail says the first fault.
  const places = issues
    .slice(1)
    .map(({ pointer, message }) => `\n  ${pointer === '' ? '(the body)' : pointer}: ${message}`);
  return places.length === 0 ? detail : `${detail.replace(/, and \d+ more$/, '')}${places.join('')}`;
}

/** Errors of files and sockets name the call and the path themselves. */
const isSystemError = (error: Error): boolean => 'syscall' in error && 'code' in error;

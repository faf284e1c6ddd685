// The one place that turns what was thrown into an answer. What the client did wrong is 4xx; 503 is said only of
// our own database or store, with what to do; everything else is a bug of ours, logged whole and answered as 500.
import { HTTPException } from 'hono/http-exception';
import type { Logger } from 'pino';
import { StoreError } from '../store/error.ts';
import { ProblemError } from './problem.ts';

export function classify(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof HTTPException) return ofHttpException(error);
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof StoreError) return ofStore(cause);
    if (isConnectionFault(cause))
      return new ProblemError(
        'database_unavailable',
        codeOf(cause) === diskFull
          ? 'the database has no space left on its disk: free some'
          : 'the database cannot be reached: try again in a moment',
        {
          headers: { 'retry-after': '2' },
          cause: error,
        },
      );
    if (isDataFault(cause))
      return new ProblemError(
        'invalid_spec',
        `the database refuses a value of the request: ${cause.message}`,
        { cause: error },
      );
  }
  return new ProblemError(
    'internal',
    'a fault of the service; its log has the details under this request id',
    { cause: error },
  );
}

export function logError(
  log: Logger,
  problem: ProblemError,
  request: { request: string; method: string; path: string },
): void {
  if (problem.code === 'internal') log.error({ ...request, err: problem.cause }, 'bug');
  else if (problem.code.endsWith('_unavailable'))
    log.warn({ ...request, err: problem.cause }, problem.message);
}

function ofHttpException(error: HTTPException): ProblemError {
  if (error.status === 415)
    return new ProblemError(
      'unsupported_media_type',
      'send the body as JSON, with content-type: application/json',
    );
  return new ProblemError('invalid_json', error.message === '' ? 'the body is not JSON' : error.message, {
    cause: error,
  });
}

function ofStore(error: StoreError): ProblemError {
  if (error.code === 'invalid') return new ProblemError('invalid_spec', error.message, { cause: error });
  return new ProblemError('store_unavailable', error.message, {
    headers: { 'retry-after': '5' },
    cause: error,
  });
}

const codeOf = (error: Error): string => String((error as { code?: unknown }).code ?? '');

/** In the class "insufficient resources", which else passes. */
const diskFull = '53100';

/** Of the driver, of the socket, and of a server that starts, stops or is full (Postgres, appendix A). */
const connectionCodes =
  /^(CONNECT_TIMEOUT|CONNECTION_\w+|ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT|08\w{3}|57P0[1-5]|25P03|53\w{3}|40\w{3}|28\w{3}|3D000)$/;
const isConnectionFault = (error: Error): boolean => connectionCodes.test(codeOf(error));

/** Class 22, data exceptions: a value that no column of ours takes. The contract should have refused it before. */
const isDataFault = (error: Error): boolean =>
  /^22\w{3}$/.test(codeOf(error)) && error.name === 'PostgresError';

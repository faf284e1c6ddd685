// One HTTP call of the client: key, timeout, and retries with growing, jittered pauses where the call may be
// repeated without harm (GETs, calls with an Idempotency-Key, and the runner's numbered calls). A 429 says how long to wait.
import { ApiError, UnreachableError, apiError } from './errors.ts';

export interface ClientOptions {
  /** For example http://127.0.0.1:7411 */
  readonly url: string;
  readonly key: string;
  /** For a whole answer, in milliseconds; streams have none. Default 30 s. */
  readonly timeoutMs?: number;
  /** A stream of events that carries nothing for so long has lost its other end, and is asked for again. Default 45 s. */
  readonly silenceMs?: number;
  /** How often a repeatable call is tried in all. Default 5. */
  readonly tries?: number;
  /** First pause between tries; it doubles up to 5 s. Default 200 ms. */
  readonly pauseMs?: number;
  readonly fetch?: typeof fetch;
  /** Ends every call of the client, and the pauses between its tries. */
  readonly signal?: AbortSignal;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly json?: unknown;
  readonly body?: BodyInit;
  readonly headers?: Readonly<Record<string, string>>;
  readonly repeatable: boolean;
  readonly timeoutMs?: number | null;
  readonly signal?: AbortSignal | undefined;
}

/** The 2xx answer. @throws ApiError, UnreachableError; the signal's reason when it is aborted. */
export async function send(options: ClientOptions, call: Call): Promise<Response> {
  const most = options.tries ?? 5;
  const signal = anyOf([options.signal, call.signal]);
  for (let failed = 0; ;) {
    try {
      return await sendOnce(options, { ...call, signal });
    } catch (error) {
      signal?.throwIfAborted();
      failed += 1;
      if (failed >= most || !worthRetry(error, call)) throw error;
      await pause(pauseMs(error, failed, options.pauseMs ?? 200), signal);
    }
  }
}

async function sendOnce(options: ClientOptions, call: Call): Promise<Response> {
  const url = urlOf(options.url, call);
  const timeoutMs = call.timeoutMs === undefined ? (options.timeoutMs ?? 30_000) : call.timeoutMs;
  const timeout = timeoutMs === null ? undefined : AbortSignal.timeout(timeoutMs);
  let response: Response;
  try {
    response = await (options.fetch ?? fetch)(url, {
      method: call.method,
      headers: headersOf(options, call),
      body: call.json === undefined ? (call.body ?? null) : JSON.stringify(call.json),
      // What fetch demands for a body that is a stream.
      ...(call.body instanceof ReadableStream ? { duplex: 'half' } : {}),
      signal: anyOf([call.signal, timeout]) ?? null,
    });
  } catch (cause) {
    throw new UnreachableError(options.url, reasonOf(cause, timeoutMs), cause);
  }
  if (!response.ok) throw await apiError(response);
  return response;
}

function anyOf(signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((one) => one !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}

function urlOf(base: string, call: Call): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {}))
    if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return `${base.replace(/\/+$/, '')}${call.path}${text === '' ? '' : `?${text}`}`;
}

const headersOf = (options: ClientOptions, call: Call): Record<string, string> => ({
  authorization: `Bearer ${options.key}`,
  ...(call.json === undefined ? {} : { 'content-type': 'application/json' }),
  ...call.headers,
});

function reasonOf(cause: unknown, timeoutMs: number | null): string {
  if (cause instanceof DOMException && cause.name === 'TimeoutError')
    return `no answer within ${timeoutMs} ms`;
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return inner instanceof Error ? inner.message || String((inner as { code?: unknown }).code) : String(inner);
}

/** What was refused for its pace has done nothing yet: it may be sent again whatever it is, unless its body is spent. */
function worthRetry(error: unknown, { repeatable, body }: Call): boolean {
  if (error instanceof ApiError && error.code === 'rate_limited')
    return (error.retryAfterMs ?? 0) <= longestWaitMs && !(body instanceof ReadableStream);
  if (!repeatable) return false;
  return (
    error instanceof UnreachableError ||
    (error instanceof ApiError && [429, 502, 503, 504].includes(error.status))
  );
}

/** A service that wants to be left alone for longer says something that the user should read. */
const longestWaitMs = 120_000;

/** Not before the service has said, and a little later, so that many callers do not come back at once. */
function pauseMs(error: unknown, failed: number, first: number): number {
  const own = backoff(failed, first);
  if (!(error instanceof ApiError) || error.status !== 429) return own;
  return (error.retryAfterMs ?? 0) + own;
}

/** Doubling up to 5 s, less up to half at random, so that many callers do not come back at once. */
export const backoff = (failed: number, first: number): number =>
  Math.min(5_000, first * 2 ** (failed - 1)) * (1 - Math.random() / 2);

/** Resolves after `ms`; throws the signal's reason when that is aborted first. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) return stop();
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

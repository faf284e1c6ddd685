// What a call can end in, other than an answer: a problem that the service names, or no service at all.
import type { Issue } from '../contract/issues.ts';
import type { Problem, ProblemCode } from '../contract/problem.ts';
import { problem } from '../contract/problem.ts';

/** The service answered with a problem. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ProblemCode | 'unknown';
  readonly detail: string;
  readonly issues: readonly Issue[];
  /** How long the service wants to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    code: ProblemCode | 'unknown',
    detail: string,
    {
      issues = [],
      retryAfterMs,
    }: { issues?: readonly Issue[] | undefined; retryAfterMs?: number | undefined } = {},
  ) {
    const places = issues
      .map(({ pointer, message }) => `\n  ${pointer === '' ? '(body)' : pointer}: ${message}`)
      .join('');
    super(`${code} (${status}): ${detail}${places}`);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.issues = issues;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No usable answer: nothing listens, the connection broke, or it took too long. */
export class UnreachableError extends Error {
  constructor(url: string, what: string, cause?: unknown) {
    super(`${url} cannot be reached: ${what}`, { cause });
    this.name = 'UnreachableError';
  }
}

/** From an answer that is not 2xx; what stands between us and the service may answer in its own way. */
export async function apiError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  const parsed = parseProblem(text);
  const retryAfterMs = retryAfter(response.headers.get('retry-after'));
  if (parsed !== undefined)
    return new ApiError(response.status, parsed.code, parsed.detail, { issues: parsed.issues, retryAfterMs });
  return new ApiError(
    response.status,
    'unknown',
    text.slice(0, 300) || response.statusText || 'an answer without a body',
    { retryAfterMs },
  );
}

/** Seconds, as the service says it; a date, which proxies may send, is not read. */
const retryAfter = (header: string | null): number | undefined =>
  /^\d{1,6}$/.test(header ?? '') ? Number(header) * 1_000 : undefined;

function parseProblem(text: string): Problem | undefined {
  try {
    return problem.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

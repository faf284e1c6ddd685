// The one error that a route throws on purpose, and its form on the wire (RFC 9457). Which failures of the
// database or the store become which problem is decided in on-error.ts, nowhere else.
import type { Issue } from './contract/issues.ts';
import type { Problem, ProblemCode } from './contract/problem.ts';
import { problems } from './contract/problem.ts';

export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly issues: readonly Issue[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    extra: { issues?: readonly Issue[]; headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(detail, { cause: extra.cause });
    this.name = 'ProblemError';
    this.code = code;
    this.issues = extra.issues;
    this.headers = extra.headers ?? {};
  }
}

export function problemOf(error: ProblemError): Problem {
  const { status, title } = problems[error.code];
  return {
    type: `urn:millrace:problem:${error.code}`,
    title,
    status,
    code: error.code,
    detail: error.message,
    ...(error.issues === undefined ? {} : { issues: [...error.issues] }),
  };
}

export function problemResponse(error: ProblemError): Response {
  const problem = problemOf(error);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', ...error.headers },
  });
}

/** The first fault in words, and how many more there are. */
export function inWords(issues: readonly Issue[], whole = 'the body'): string {
  const [first] = issues;
  const more = issues.length > 1 ? `, and ${issues.length - 1} more` : '';
  return `${first?.pointer || whole}: ${first?.message ?? 'not valid'}${more}`;
}

export const notFound = (what: string, id: string): ProblemError =>
  new ProblemError(
    'not_found',
    `there is no ${what} ${JSON.stringify(id.slice(0, 100))} that this key can see`,
  );

// Errors of the routes that speak OpenAI's dialect: their clients read `{error: {message, type, code, param}}`, not problems.
// The codes are the problems' own, so that one table says what each means.
import { z } from 'zod';
import type { Issue } from './issues.ts';
import type { Problem } from './problem.ts';

export const chatError = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      code: z.string().nullable(),
      param: z.string().nullable().describe('the field that is wrong, such as messages[0].role'),
    }),
  })
  .meta({ id: 'ChatError' });
export type ChatError = z.infer<typeof chatError>;

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

/** A problem in that form. A body of the wrong form is 400 there, not 422. */
export function chatErrorOf(problem: Pick<Problem, 'status' | 'code' | 'detail' | 'issues'>): {
  status: number;
  body: ChatError;
} {
  const { code, detail, issues } = problem;
  const status = problem.status === 422 ? 400 : problem.status;
  const type = types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return { status, body: { error: { message: detail, type, code, param: paramOf(issues?.[0]) } } };
}

/** `/messages/0/role` as `messages[0].role`. */
function paramOf(issue: Issue | undefined): string | null {
  if (issue === undefined || issue.pointer === '') return null;
  const keys = issue.pointer.slice(1).split('/');
  return keys
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(
      (path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`),
      '',
    );
}

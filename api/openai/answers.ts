// The short forms of answers of the routes that speak OpenAI's dialect.
import { chatError } from '../contract/chat-error.ts';
import type { ProblemCode } from '../contract/problem.ts';
import { problems } from '../contract/problem.ts';
import { commonProblems, json } from '../openapi.ts';

/** Problems by status, in that form; a body of the wrong form (invalid_spec) is 400 here, not 422. */
export function openAiProblems(...codes: readonly ProblemCode[]) {
  const all = [...new Set<ProblemCode>([...commonProblems, ...codes])];
  const statusOf = (code: ProblemCode): number =>
    problems[code].status === 422 ? 400 : problems[code].status;
  return Object.fromEntries(
    [...new Set(all.map(statusOf))].map((status) => [
      status,
      json(chatError, all.filter((code) => statusOf(code) === status).join(', ')),
    ]),
  );
}

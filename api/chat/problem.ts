// Problems as the clients of OpenAI's routes read them.
import { chatErrorOf } from '../contract/chat-error.ts';
import type { ProblemError } from '../problem.ts';
import { problemOf } from '../problem.ts';

/** Routes whose errors have OpenAI's form, whatever goes wrong. */
export const speaksOpenAi = (path: string): boolean =>
  /^\/v1\/(chat\/|(models|files|fine_tuning)(\/|$))/.test(path);

export function chatProblemResponse(error: ProblemError): Response {
  const { status, body } = chatErrorOf(problemOf(error));
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...error.headers },
  });
}

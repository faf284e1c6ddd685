// How routes are declared: a router whose failed validation becomes a problem, and the short forms of answers that
// every route's OpenAPI entry is made of.
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Hook } from '@hono/zod-openapi';
import type { z } from 'zod';
import type { Env } from './context.ts';
import { issuesOf } from './contract/issues.ts';
import type { ProblemCode } from './contract/problem.ts';
import { problem, problems } from './contract/problem.ts';
import { inWords, ProblemError } from './problem.ts';

export type Router = OpenAPIHono<Env>;

export const newRouter = (): Router => new OpenAPIHono<Env>({ defaultHook: refuse });

const codeOfTarget: Partial<Record<string, ProblemCode>> = {
  json: 'invalid_spec',
  query: 'invalid_query',
  header: 'invalid_header',
  param: 'not_found',
};

const refuse: Hook<unknown, Env, string, unknown> = (result) => {
  if (result.success) return;
  const issues = issuesOf(result.error);
  const code = codeOfTarget[result.target] ?? 'invalid_query';
  if (code === 'not_found')
    throw new ProblemError(code, `the path names nothing: ${issues[0]?.message ?? 'not an id'}`);
  const whole = result.target === 'json' ? 'the body' : `the ${result.target}`;
  throw new ProblemError(code, inWords(issues, whole), { issues });
};

export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { 'application/json': { schema } },
});

export const jsonRequest = <T extends z.ZodType>(schema: T) => ({
  body: { required: true, content: { 'application/json': { schema } } },
});

/** What every route below /v1 may answer: a key is wanted and may be too busy, the URL may hold a NUL, the database may be away. */
export const commonProblems = [
  'unauthorized',
  'forbidden',
  'rate_limited',
  'invalid_query',
  'database_unavailable',
] as const;

/** The problems a route may answer with, beside those that every route has. */
export function problemAnswers(...codes: readonly ProblemCode[]) {
  const all = [...new Set<ProblemCode>([...commonProblems, ...codes])];
  const statuses = [...new Set(all.map((code) => problems[code].status))];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: all.filter((code) => problems[code].status === status).join(', '),
        content: { 'application/problem+json': { schema: problem } },
      },
    ]),
  );
}

/** A router's path as the document names it: `/v1/jobs/:id` is `/v1/jobs/{id}`. */
export const documentedPath = (path: string): string => path.replaceAll(/:(\w+)(?:\{\.\+\})?/g, '{$1}');

export const security = [{ bearer: [] }];

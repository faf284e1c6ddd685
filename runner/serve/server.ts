// The one route of a serving runner: chat completions for the API, which streams them on. Whoever lacks the secret learns
// nothing. The answer is always an event stream with usage; what clients asked for is made of it by the API.
import { createHash, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Logger } from 'pino';
import { chatRequest } from '../../api/contract/chat.ts';
import type { ChatRequest } from '../../api/contract/chat.ts';
import { chatErrorOf } from '../../api/contract/chat-error.ts';
import type { ChatError } from '../../api/contract/chat-error.ts';
import { issuesOf } from '../../api/contract/issues.ts';
import type { ProblemCode } from '../../api/contract/problem.ts';
import { problems } from '../../api/contract/problem.ts';
import type { ChatEngine } from './chat-engine.ts';
import { chunksOf } from './chunks.ts';
import { eventStream } from './event-stream.ts';
import { RequestRefused } from './refused.ts';

export interface Serving {
  readonly engine: ChatEngine;
  readonly secret: string;
  readonly log: Logger;
  /** Aborted when the runner stops: no new request is taken. */
  readonly stopping: AbortSignal;
}

const maxBodyBytes = 16 << 20;

export function servingApp(serving: Serving): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    if (!isSecret(c.req.header('authorization'), serving.secret))
      return refuse('unauthorized', 'not your runner');
    await next();
    return undefined;
  });
  app.use(bodyLimit({ maxSize: maxBodyBytes, onError: () => refuse('too_large', 'the body is too large') }));
  app.post('/v1/chat/completions', (c) => answer(serving, c));
  app.notFound(() => refuse('not_found', 'a serving runner has one route: POST /v1/chat/completions'));
  app.onError((error) => {
    if (error instanceof RequestRefused) return refuse(error.code, error.message, error.pointer);
    serving.log.error({ err: error }, 'a request failed');
    return refuse('internal', 'the runner failed: its log says how');
  });
  return app;
}

/** Compared as hashes, so that how long it takes says nothing about the secret. */
function isSecret(header: string | undefined, secret: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(header ?? ''), hash(`Bearer ${secret}`));
}

async function answer({ engine, log, stopping }: Serving, c: Context): Promise<Response> {
  if (stopping.aborted) return refuse('serving_runner_busy', 'the runner is about to stop');
  const request = parseRequest(await c.req.text());
  const gone = new AbortController();
  const start = performance.now();
  const signal = AbortSignal.any([gone.signal, c.req.raw.signal]);
  const given = engine.answer(request, signal);
  log.info({ prompt_tokens: given.promptTokens }, 'answering');
  signal.addEventListener('abort', () => log.info({ ...given.usage() }, 'the client has gone'), {
    once: true,
  });
  async function* logged() {
    yield* chunksOf(given, request.model);
    if (!signal.aborted)
      log.info({ ...given.usage(), ms: Math.round(performance.now() - start) }, 'answered');
  }
  return eventStream(logged(), {
    onGone: () => gone.abort(),
    explain: (error) => {
      log.error({ err: error }, 'an answer failed');
      return errorBody('internal', 'the runner failed in the middle of the answer: its log says how').body;
    },
  });
}

/** @throws RequestRefused. The API has checked it before; whoever else knows the secret is told as well. */
function parseRequest(text: string): ChatRequest {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new RequestRefused('invalid_json', `the body is not JSON: ${(cause as Error).message}`);
  }
  const parsed = chatRequest.safeParse(json);
  if (parsed.success) return parsed.data;
  const [first] = issuesOf(parsed.error);
  throw new RequestRefused('invalid_spec', first?.message ?? 'not valid', first?.pointer);
}

function errorBody(code: ProblemCode, detail: string, pointer = ''): { status: number; body: ChatError } {
  const issues = pointer === '' ? [] : [{ pointer, message: detail }];
  return chatErrorOf({ code, detail, issues, status: problems[code].status });
}

function refuse(code: ProblemCode, detail: string, pointer?: string): Response {
  const { status, body } = errorBody(code, detail, pointer);
  return Response.json(body, { status });
}

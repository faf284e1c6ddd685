// Gives every request an id (the client's own where it is harmless) and one log line with it. Keys, bodies and
// query strings are never logged.
import type { MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import type { Env } from '../context.ts';
import { jobInPath } from '../log.ts';

const harmless = /^[A-Za-z0-9._-]{1,100}$/;

export function requestId(log: Logger): MiddlewareHandler<Env> {
  return async (c, next) => {
    const given = c.req.header('x-request-id') ?? '';
    const id = harmless.test(given) ? given : crypto.randomUUID();
    c.set('requestId', id);
    const started = performance.now();
    await next();
    c.res.headers.set('x-request-id', id);
    const ms = Math.round(performance.now() - started);
    const { method, path } = c.req;
    log.debug({ request: id, method, path, ...jobInPath(path), status: c.res.status, ms }, 'request');
  };
}

// How long answers take, by the pattern of their route: paths hold ids, and there is no end of those.
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Env } from '../context.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** Methods of routes; whatever else somebody sends is one more. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export function measure(metrics: Metrics): MiddlewareHandler<Env> {
  return async (c, next) => {
    const started = performance.now();
    await next();
    const pattern = routePath(c, -1);
    const route = pattern.includes('*') ? 'none' : pattern;
    const method = methods.includes(c.req.method) ? c.req.method : 'other';
    metrics.answered(route, method, c.res.status, (performance.now() - started) / 1000);
  };
}

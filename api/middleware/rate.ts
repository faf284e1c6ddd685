// Requests of one key, by a token bucket in this process. The runner protocol is not counted: its pace is the service's own,
// and a heartbeat that is refused would cost a job.
import type { MiddlewareHandler } from 'hono';
import type { Env, Services } from '../context.ts';
import { createBuckets } from '../limits/buckets.ts';
import { rateHeaders, retryAfter } from '../limits/headers.ts';
import { ProblemError } from '../problem.ts';
import type { Caller } from './auth.ts';

/** @throws ProblemError rate_limited. */
export function limitRequests({ limits, now }: Services): MiddlewareHandler<Env> {
  const size = { perMinute: limits.requestsPerMinute, burst: limits.requestBurst };
  const buckets = createBuckets(size, () => now().getTime());
  return async (c, next) => {
    const caller = c.get('caller');
    if (isRunner(caller, c.req.path)) return next();
    const at = buckets.take(caller.id);
    const headers = rateHeaders('requests', size, at);
    if (!at.taken)
      throw new ProblemError(
        'rate_limited',
        `your key sends more than ${size.perMinute} requests a minute: wait ${at.waitS} s`,
        { headers: { ...headers, ...retryAfter(at.waitS) } },
      );
    await next();
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
  };
}

/** Others who knock at the protocol are counted as they are everywhere. */
const isRunner = ({ scopes }: Caller, path: string): boolean =>
  path.startsWith('/v1/runner/') &&
  scopes.some((scope) => scope === 'runner' || scope === 'shared_runner' || scope === 'admin');

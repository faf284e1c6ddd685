// The audit trail of what clients change: a row before the work, and its outcome after it (db/audit/record.ts says why). Calls
// that are refused leave their row too, with the status that says so. What runners report is no client's act, and grading and
// chatting change nothing.
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { beginAudit, endAudit } from '../../db/audit/record.ts';
import type { Env, Services } from '../context.ts';
import { documentedPath } from '../openapi.ts';

const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const spared = /^\/v1\/(runner\/|graders\/run$|chat\/completions$)/;

export const isAudited = ({ method, path }: { method: string; path: string }): boolean =>
  changing.has(method) && !spared.test(path);

export function audit({ db, log }: Services): MiddlewareHandler<Env> {
  return async (c, next) => {
    const route = matchedRoutes(c).findLast(({ method }) => method !== 'ALL');
    if (route === undefined || !isAudited(route)) return next();
    const { id: keyId, name: keyName, projectId } = c.get('caller');
    const thing = thingIn(route.path, c.req.path) ?? null;
    const row = await beginAudit(db, {
      projectId,
      keyId,
      keyName,
      method: c.req.method,
      route: documentedPath(route.path),
      thing,
      requestId: c.get('requestId'),
    });
    await next();
    try {
      const outcome = await outcomeOf(c, thing);
      await endAudit(db, row, { ...outcome, projectId: c.get('about') ?? projectId });
    } catch (error) {
      // The work is done and must be answered; the row stands, and says that its outcome is not known.
      const request = c.get('requestId');
      log.error({ err: error, audit: row, request }, 'an outcome is not in the audit trail');
    }
  };
}

/** What the answer tells: its status, and the id of what was created. */
async function outcomeOf(c: Context<Env>, thing: string | null) {
  const { status } = c.res;
  const id = await answeredId(c);
  if (thing === null) return { status, thing: id };
  return { status, made: status === 201 && id !== thing ? id : null };
}

async function answeredId({ req, res }: Context<Env>): Promise<string | null> {
  const isJson = res.headers.get('content-type')?.startsWith('application/json') ?? false;
  if (req.method !== 'POST' || !res.ok || !isJson) return null;
  const { id } = (await res.clone().json()) as { id?: unknown };
  return typeof id === 'string' ? id.slice(0, longestThing) : null;
}

const longestThing = 200;

/** The first segment of the path for which the route has a parameter. */
function thingIn(route: string, path: string): string | undefined {
  const at = route.split('/').findIndex((segment) => segment.startsWith(':'));
  return at < 0 ? undefined : path.split('/')[at]?.slice(0, longestThing);
}

// Is the process there, and can it work: no key needed, nothing told that a stranger could use.
import { createRoute, z } from '@hono/zod-openapi';
import { sql } from 'drizzle-orm';
import type { Services } from '../context.ts';
import { json, newRouter } from '../openapi.ts';

const healthy = z.object({ status: z.literal('ok') });
const readiness = z.object({ ready: z.boolean(), database: z.string(), store: z.string() });

const probeBody = new TextEncoder().encode('ok\n');

/** A probe must end before the one who asks gives up. */
const probeMs = 3_000;

export const healthRoutes = (services: Services) =>
  newRouter()
    .openapi(
      createRoute({
        method: 'get',
        path: '/healthz',
        tags: ['service'],
        responses: { 200: json(healthy, 'The process answers') },
      }),
      (c) => c.json({ status: 'ok' as const }, 200),
    )
    .openapi(
      createRoute({
        method: 'get',
        path: '/readyz',
        tags: ['service'],
        responses: {
          200: json(readiness, 'Database and store answer'),
          503: json(readiness, 'One of them does not, or the process is stopping'),
        },
      }),
      async (c) => {
        const [database, store] = await Promise.all([
          probe(() => services.db.execute(sql`select 1`)),
          probe(() => services.store.put('health/readyz', probeBody)),
        ]);
        const ready = database === 'ok' && store === 'ok' && !services.stopping.aborted;
        return c.json({ ready, database, store }, ready ? 200 : 503);
      },
    );

async function probe(ask: () => PromiseLike<unknown>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>(
    (resolve) => (timer = setTimeout(resolve, probeMs, `no answer within ${probeMs} ms`)),
  );
  const asked = Promise.resolve(ask()).then(
    () => 'ok',
    (error: unknown) => `unavailable${codeOf(error)}`,
  );
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
}

/** The kind of failure, not its text: messages name hosts and users. */
function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as { code?: unknown }).code;
    if (typeof code === 'string') return `: ${code}`;
  }
  return '';
}

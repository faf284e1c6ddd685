// Is the process there, and can it work: no key needed, nothing told that a stranger could use.
import { createRoute, z } from '@hono/zod-openapi';
import type { Services } from '../context.ts';
import { json, newRouter } from '../openapi.ts';
import { readiness, readinessProbe } from '../readiness.ts';

const healthy = z.object({ status: z.literal('ok') });

export function healthRoutes(services: Services) {
  const probe = readinessProbe(services);
  return newRouter()
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
        description: 'What was found out is kept for two seconds.',
        responses: {
          200: json(readiness, 'Database and store answer'),
          503: json(readiness, 'One of them does not, migrations are missing, or the process is stopping'),
        },
      }),
      async (c) => {
        const found = await probe();
        return c.json(found, found.ready ? 200 : 503);
      },
    );
}

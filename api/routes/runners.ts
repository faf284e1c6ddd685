// Who is alive.
import { createRoute } from '@hono/zod-openapi';
import { listRunners } from '../../db/runners.ts';
import type { Services } from '../context.ts';
import { page, pageQuery } from '../contract/list.ts';
import { runner } from '../contract/runner.ts';
import { allow } from '../middleware/auth.ts';
import { json, newRouter, problemAnswers, security } from '../openapi.ts';
import { pageView } from '../pages.ts';
import { runnerView } from '../views.ts';

const list = createRoute({
  method: 'get',
  path: '/v1/runners',
  tags: ['runners'],
  security,
  description: 'Runners of the key’s project, the newest registration of a new name first.',
  middleware: [allow('read', 'submit')],
  request: { query: pageQuery },
  responses: { 200: json(page(runner), 'Runners'), ...problemAnswers('invalid_query') },
});

export const runnerRoutes = ({ db, timing, now }: Services) =>
  newRouter().openapi(list, async (c) => {
    const rows = await listRunners(db, c.get('caller').projectId, c.req.valid('query'));
    const aliveSince = new Date(now().getTime() - timing.leaseMs);
    return c.json(
      pageView(
        rows,
        (row) => runnerView(row, aliveSince),
        (row) => row.id,
      ),
      200,
    );
  });

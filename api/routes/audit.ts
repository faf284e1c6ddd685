// The audit trail, for admins of a project and for operators.
import { createRoute, z } from '@hono/zod-openapi';
import { listAudit } from '../../db/audit/list.ts';
import type { Services } from '../context.ts';
import { auditEntry } from '../contract/audit.ts';
import { projectReference } from '../contract/keys.ts';
import { page, pageQuery } from '../contract/list.ts';
import { keyId } from '../contract/names.ts';
import { allow } from '../middleware/auth.ts';
import { json, newRouter, problemAnswers, security } from '../openapi.ts';
import { pageView } from '../pages.ts';
import { listedProject } from '../projects/find.ts';
import { auditView } from '../views.ts';

const listQuery = pageQuery.extend({
  project: projectReference.optional(),
  key: keyId.optional().describe('who asked'),
  thing: z.string().min(1).max(200).optional().describe('id of what was changed or created'),
});

const list = createRoute({
  method: 'get',
  path: '/v1/audit',
  tags: ['keys'],
  security,
  description:
    'Calls of clients that changed something in the project, or were refused it, newest first: who, what, when, with what ' +
    'outcome. No bodies and no secrets. An operator sees every project’s.',
  middleware: [allow('admin', 'operator')],
  request: { query: listQuery },
  responses: { 200: json(page(auditEntry), 'Calls'), ...problemAnswers('invalid_query', 'not_found') },
});

export const auditRoutes = ({ db }: Services) =>
  newRouter().openapi(list, async (c) => {
    const { project, key, thing, ...query } = c.req.valid('query');
    const projectId = await listedProject(db, c.get('caller'), project);
    const rows = await listAudit(db, { projectId, keyId: key, thing }, query);
    return c.json(
      pageView(rows, auditView, (row) => row.id),
      200,
    );
  });

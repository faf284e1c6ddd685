// Webhooks: make, list, get, change, take away, a new secret. For admins: a webhook sees every job of the project.
import { createRoute, z } from '@hono/zod-openapi';
import { getWebhook, listWebhooks } from '../../db/webhooks/read.ts';
import type { WebhookRow } from '../../db/webhooks/table.ts';
import {
  changeWebhook,
  deleteWebhook,
  insertWebhook,
  mostWebhooks,
  rotateSecret,
} from '../../db/webhooks/write.ts';
import type { Services } from '../context.ts';
import { page, pageQuery } from '../contract/list.ts';
import { webhookId } from '../contract/names.ts';
import { webhook, webhookChanges, webhookRequest, webhookWithSecret } from '../contract/webhook.ts';
import { answerOnce, idempotencyHeader } from '../idempotency.ts';
import { allow } from '../middleware/auth.ts';
import { jsonBody } from '../middleware/body.ts';
import { json, jsonRequest, newRouter, problemAnswers, security } from '../openapi.ts';
import { pageView } from '../pages.ts';
import { notFound, ProblemError } from '../problem.ts';
import { checkAddress } from '../webhooks/address.ts';
import { webhookView } from '../webhooks/views.ts';

/** For so long the former secret signs beside the new one. */
const overlapMs = 24 * 3_600_000;

const bodyProblems = ['invalid_json', 'invalid_spec', 'too_large', 'unsupported_media_type'] as const;
const params = z.object({ id: webhookId });

function routes(services: Services) {
  const common = { tags: ['webhooks'], security };
  const one = { ...common, path: '/v1/webhooks/{id}' as const, middleware: [allow('admin')] };
  const middleware = [allow('admin'), jsonBody({ maxBytes: services.limits.jsonBytes })];
  return {
    create: createRoute({
      ...common,
      method: 'post',
      path: '/v1/webhooks',
      description: `Events from now on are told to \`url\`. At most ${mostWebhooks} for a project.`,
      middleware,
      request: { headers: idempotencyHeader, ...jsonRequest(webhookRequest) },
      responses: {
        201: json(webhookWithSecret, 'The webhook, and its secret this once'),
        ...problemAnswers(...bodyProblems, 'invalid_header', 'conflict', 'idempotency_conflict'),
      },
    }),
    list: createRoute({
      ...common,
      method: 'get',
      path: '/v1/webhooks',
      description: 'Newest first.',
      middleware: [allow('admin')],
      request: { query: pageQuery },
      responses: { 200: json(page(webhook), 'Webhooks'), ...problemAnswers('invalid_query') },
    }),
    get: createRoute({
      ...one,
      method: 'get',
      request: { params },
      responses: { 200: json(webhook, 'The webhook'), ...problemAnswers('not_found') },
    }),
    change: createRoute({
      ...one,
      method: 'patch',
      description:
        'What is given changes, the rest stays. Switched on again, it is sent what had been waiting, and begins without its history of failures.',
      middleware,
      request: { params, ...jsonRequest(webhookChanges) },
      responses: { 200: json(webhook, 'The webhook'), ...problemAnswers(...bodyProblems, 'not_found') },
    }),
    remove: createRoute({
      ...one,
      method: 'delete',
      description: 'Takes the webhook and its deliveries away.',
      request: { params },
      responses: { 204: { description: 'It is gone' }, ...problemAnswers('not_found') },
    }),
    rotate: createRoute({
      ...common,
      method: 'post',
      path: '/v1/webhooks/{id}/rotate-secret',
      description:
        'A new secret. For a day the former one signs as well: deliveries then carry two signatures.',
      middleware: [allow('admin')],
      request: { params },
      responses: {
        200: json(webhookWithSecret, 'The webhook, and its new secret this once'),
        ...problemAnswers('not_found'),
      },
    }),
  };
}

const withSecret = (row: WebhookRow): z.infer<typeof webhookWithSecret> => ({
  ...webhookView(row),
  secret: row.secret,
});

function found(row: WebhookRow | undefined, id: string): WebhookRow {
  if (row === undefined) throw notFound('webhook', id);
  return row;
}

export function webhookRoutes(services: Services) {
  const { db, allowPrivateAddresses } = services;
  const { create, list, get, change, remove, rotate } = routes(services);
  return newRouter()
    .openapi(create, async (c) => {
      const given = c.req.valid('json');
      const { projectId } = c.get('caller');
      checkAddress(given.url, allowPrivateAddresses);
      const request = ['POST /v1/webhooks', await c.req.text()];
      const keyed = { projectId, key: c.req.valid('header')['idempotency-key'], request };
      const { body } = await answerOnce(db, keyed, async (tx) => {
        const row = await insertWebhook(tx, { projectId, ...given });
        if (row === undefined)
          throw new ProblemError(
            'conflict',
            `the project has ${mostWebhooks} webhooks, which is the most: delete one, or let one hear more events`,
          );
        return { status: 201, body: withSecret(row) };
      });
      const created = body as z.infer<typeof webhookWithSecret>;
      c.header('location', `/v1/webhooks/${created.id}`);
      return c.json(created, 201);
    })
    .openapi(list, async (c) => {
      const rows = await listWebhooks(db, c.get('caller').projectId, c.req.valid('query'));
      return c.json(
        pageView(rows, webhookView, (row) => row.id),
        200,
      );
    })
    .openapi(get, async (c) => {
      const { id } = c.req.valid('param');
      return c.json(webhookView(found(await getWebhook(db, c.get('caller').projectId, id), id)), 200);
    })
    .openapi(change, async (c) => {
      const { id } = c.req.valid('param');
      const changes = c.req.valid('json');
      if (changes.url !== undefined) checkAddress(changes.url, allowPrivateAddresses);
      const row = await changeWebhook(db, c.get('caller').projectId, id, changes);
      return c.json(webhookView(found(row, id)), 200);
    })
    .openapi(remove, async (c) => {
      const { id } = c.req.valid('param');
      if (!(await deleteWebhook(db, c.get('caller').projectId, id))) throw notFound('webhook', id);
      return c.body(null, 204);
    })
    .openapi(rotate, async (c) => {
      const { id } = c.req.valid('param');
      const row = await rotateSecret(db, c.get('caller').projectId, id, overlapMs);
      return c.json(withSecret(found(row, id)), 200);
    });
}

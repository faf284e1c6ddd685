// What became of a webhook's deliveries, one of them once more, and one that tells of nothing, to try a receiver.
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { insertTest, replayDelivery } from '../../db/webhooks/deliveries.ts';
import { getDelivery, getWebhook, listDeliveries } from '../../db/webhooks/read.ts';
import type { WebhookRow } from '../../db/webhooks/table.ts';
import type { Env, Services } from '../context.ts';
import { page, pageQuery } from '../contract/list.ts';
import { deliveryId, webhookId } from '../contract/names.ts';
import { deliveryState, webhookDelivery } from '../contract/webhook.ts';
import { allow } from '../middleware/auth.ts';
import { json, newRouter, problemAnswers, security } from '../openapi.ts';
import { pageView } from '../pages.ts';
import { notFound, ProblemError } from '../problem.ts';
import { deliveryView } from '../webhooks/views.ts';

const common = { tags: ['webhooks'], security, middleware: [allow('admin')] };

const list = createRoute({
  ...common,
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries',
  description: 'Newest first, of the last 30 days.',
  request: {
    params: z.object({ id: webhookId }),
    query: pageQuery.extend({ state: deliveryState.optional() }),
  },
  responses: {
    200: json(page(webhookDelivery), 'Deliveries'),
    ...problemAnswers('not_found', 'invalid_query'),
  },
});

const replay = createRoute({
  ...common,
  method: 'post',
  path: '/v1/webhooks/{id}/deliveries/{delivery}/replay',
  description:
    'Sends a delivery that has ended once more, under the same id, with all its retries before it.',
  request: { params: z.object({ id: webhookId, delivery: deliveryId }) },
  responses: {
    202: json(webhookDelivery, 'The delivery, pending'),
    ...problemAnswers('not_found', 'conflict'),
  },
});

const test = createRoute({
  ...common,
  method: 'post',
  path: '/v1/webhooks/{id}/test',
  description:
    'Sends `webhook.test`, once, whether the webhook is active or not. What became of it is among the deliveries.',
  request: { params: z.object({ id: webhookId }) },
  responses: { 202: json(webhookDelivery, 'The delivery, pending'), ...problemAnswers('not_found') },
});

export function webhookDeliveryRoutes({ db }: Services) {
  const theWebhook = async (c: Context<Env>, id: string): Promise<WebhookRow> => {
    const row = await getWebhook(db, c.get('caller').projectId, id);
    if (row === undefined) throw notFound('webhook', id);
    return row;
  };
  return newRouter()
    .openapi(list, async (c) => {
      const { id } = await theWebhook(c, c.req.valid('param').id);
      const { state, ...query } = c.req.valid('query');
      return c.json(
        pageView(await listDeliveries(db, id, state, query), deliveryView, (row) => row.id),
        200,
      );
    })
    .openapi(replay, async (c) => {
      const { id } = await theWebhook(c, c.req.valid('param').id);
      const { delivery } = c.req.valid('param');
      const row = await replayDelivery(db, id, delivery);
      if (row !== undefined) return c.json(deliveryView(row), 202);
      if ((await getDelivery(db, id, delivery)) === undefined) throw notFound('delivery', delivery);
      throw new ProblemError(
        'conflict',
        `delivery ${delivery} has not ended: it is sent without being asked`,
      );
    })
    .openapi(test, async (c) => {
      const webhook = await theWebhook(c, c.req.valid('param').id);
      return c.json(deliveryView(await insertTest(db, webhook)), 202);
    });
}

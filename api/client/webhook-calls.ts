// Webhooks: make, look at, change, take away; their deliveries.
import type { CheckedCall, Creating, Query } from '../client.ts';
import { page } from '../contract/list.ts';
import { webhook, webhookDelivery, webhookWithSecret } from '../contract/webhook.ts';
import type { WebhookChanges, WebhookInput } from '../contract/webhook.ts';
import type { ClientOptions } from './request.ts';
import { send } from './request.ts';

export function webhookCalls(options: ClientOptions, call: CheckedCall) {
  const one = (id: string): string => `/v1/webhooks/${encodeURIComponent(id)}`;
  return {
    /** `secret` is in this answer only. */
    createWebhook: (given: WebhookInput, { idempotencyKey = crypto.randomUUID() }: Creating = {}) =>
      call(webhookWithSecret, {
        method: 'POST',
        path: '/v1/webhooks',
        json: given,
        headers: { 'idempotency-key': idempotencyKey },
        repeatable: true,
      }),
    webhooks: (query?: Query) =>
      call(page(webhook), { method: 'GET', path: '/v1/webhooks', ...(query && { query }), repeatable: true }),
    webhook: (id: string) => call(webhook, { method: 'GET', path: one(id), repeatable: true }),
    changeWebhook: (id: string, changes: WebhookChanges) =>
      call(webhook, { method: 'PATCH', path: one(id), json: changes, repeatable: true }),
    /** Not repeated: after an answer that was lost the next one would be that there is none. */
    deleteWebhook: async (id: string): Promise<void> => {
      await send(options, { method: 'DELETE', path: one(id), repeatable: false });
    },
    /** Not repeated: each call makes a new secret. */
    rotateWebhookSecret: (id: string) =>
      call(webhookWithSecret, { method: 'POST', path: `${one(id)}/rotate-secret`, repeatable: false }),
    webhookDeliveries: (id: string, query?: Query) =>
      call(page(webhookDelivery), {
        method: 'GET',
        path: `${one(id)}/deliveries`,
        ...(query && { query }),
        repeatable: true,
      }),
    replayDelivery: (id: string, delivery: string) =>
      call(webhookDelivery, {
        method: 'POST',
        path: `${one(id)}/deliveries/${encodeURIComponent(delivery)}/replay`,
        repeatable: false,
      }),
    testWebhook: (id: string) =>
      call(webhookDelivery, { method: 'POST', path: `${one(id)}/test`, repeatable: false }),
  };
}

// Rows of webhooks as they cross the wire: never the secret.
import type { WebhookDeliveryRow, WebhookRow } from '../../db/webhooks/table.ts';
import type { Webhook, WebhookDelivery } from '../contract/webhook.ts';

export const webhookView = (row: WebhookRow): Webhook => ({
  id: row.id,
  url: row.url,
  events: row.events,
  labels: row.labels,
  active: row.active,
  reason: row.reason,
  failing_since: row.failingSince?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
});

export const deliveryView = (row: WebhookDeliveryRow): WebhookDelivery => ({
  id: row.id,
  type: row.type,
  job: row.jobId,
  seq: row.seq,
  state: row.state,
  attempts: row.attempts,
  next_attempt_at: row.state === 'pending' ? row.nextAt.toISOString() : null,
  last_attempt_at: row.lastAttemptAt?.toISOString() ?? null,
  last_status: row.lastStatus,
  last_error: row.lastError,
  last_response: row.lastResponse,
  created_at: row.createdAt.toISOString(),
});

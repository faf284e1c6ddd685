// The tables of webhooks: who is to be told, and each thing that is told, its own queue entry. Deliveries are inserted by a trigger on
// events (migrations, events_outbox), in the transaction of the event.
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import type {
  DeliveredEvent,
  DeliveryState,
  WebhookEvent,
  WebhookPayload,
} from '../../api/contract/webhook.ts';
import { foreignText, json } from '../json.ts';
import { createdAt, ownedBy, time } from '../schema.ts';

/**
 * The secret is kept as it is: every delivery is signed with it. A former one signs as well until its time is over.
 * `failing_since`: the first failure after the last success.
 */
export const webhooks = pgTable(
  'webhooks',
  {
    id: text('id').primaryKey(),
    projectId: ownedBy(),
    url: text('url').notNull(),
    events: text('events').array().$type<WebhookEvent[]>().notNull(),
    labels: json<Record<string, string>>('labels').notNull(),
    active: boolean('active').notNull(),
    reason: foreignText('reason'),
    secret: text('secret').notNull(),
    formerSecret: text('former_secret'),
    formerSecretUntil: time('former_secret_until'),
    failingSince: time('failing_since'),
    createdAt: createdAt(),
  },
  (table) => [index('webhooks_list').on(table.projectId, table.id)],
);

/**
 * `attempts` counts tries in all and is their fence; `failures` counts those of the present round, and a replay begins a new one.
 * While it is being sent `next_at` is the time at which another process takes it over. No foreign keys: a webhook or a job that
 * is deleted meanwhile must not make the event fail.
 */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: text('id').primaryKey(),
    webhookId: text('webhook_id').notNull(),
    projectId: text('project_id').notNull(),
    type: text('type').$type<DeliveredEvent>().notNull(),
    jobId: text('job_id'),
    seq: bigint('seq', { mode: 'number' }),
    job: json<NonNullable<WebhookPayload['job']>>('job'),
    state: text('state').$type<DeliveryState>().notNull().default('pending'),
    attempts: integer('attempts').notNull().default(0),
    failures: integer('failures').notNull().default(0),
    nextAt: time('next_at').notNull().defaultNow(),
    lastAttemptAt: time('last_attempt_at'),
    lastStatus: integer('last_status'),
    lastError: foreignText('last_error'),
    lastResponse: foreignText('last_response'),
    createdAt: createdAt(),
  },
  (table) => [
    index('webhook_deliveries_due')
      .on(table.webhookId, table.nextAt)
      .where(sql`state = 'pending'`),
    index('webhook_deliveries_list').on(table.webhookId, table.id),
    index('webhook_deliveries_age').on(table.createdAt),
  ],
);

export type WebhookRow = typeof webhooks.$inferSelect;
export type WebhookDeliveryRow = typeof webhookDeliveries.$inferSelect;

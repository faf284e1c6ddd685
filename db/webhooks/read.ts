// Webhooks and their deliveries as an admin asks for them.
import { and, eq } from 'drizzle-orm';
import type { DeliveryState } from '../../api/contract/webhook.ts';
import type { Database } from '../connect.ts';
import { pageWindow, toPage, type PageOf, type PageQuery } from '../page.ts';
import { webhookDeliveries, webhooks, type WebhookDeliveryRow, type WebhookRow } from './table.ts';

/** Undefined if the project has no such webhook. */
export async function getWebhook(
  db: Database,
  projectId: string,
  id: string,
): Promise<WebhookRow | undefined> {
  const [row] = await db
    .select()
    .from(webhooks)
    .where(and(eq(webhooks.projectId, projectId), eq(webhooks.id, id)));
  return row;
}

/** Newest first. */
export async function listWebhooks(
  db: Database,
  projectId: string,
  query: PageQuery,
): Promise<PageOf<WebhookRow>> {
  const { where, order, take } = pageWindow(webhooks.id, query);
  const owned = and(eq(webhooks.projectId, projectId), where);
  return toPage(await db.select().from(webhooks).where(owned).orderBy(order).limit(take), query);
}

/** Newest first. */
export async function listDeliveries(
  db: Database,
  webhookId: string,
  state: DeliveryState | undefined,
  query: PageQuery,
): Promise<PageOf<WebhookDeliveryRow>> {
  const { where, order, take } = pageWindow(webhookDeliveries.id, query);
  const wanted = and(
    eq(webhookDeliveries.webhookId, webhookId),
    state === undefined ? undefined : eq(webhookDeliveries.state, state),
    where,
  );
  return toPage(await db.select().from(webhookDeliveries).where(wanted).orderBy(order).limit(take), query);
}

export async function getDelivery(
  db: Database,
  webhookId: string,
  id: string,
): Promise<WebhookDeliveryRow | undefined> {
  const [row] = await db
    .select()
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.webhookId, webhookId), eq(webhookDeliveries.id, id)));
  return row;
}

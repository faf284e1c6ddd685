// Webhooks as an admin makes, changes and deletes them.
import { randomBytes } from 'node:crypto';
import { and, eq, sql } from 'drizzle-orm';
import type { WebhookChanges, WebhookEvent } from '../../api/contract/webhook.ts';
import type { Database } from '../connect.ts';
import { newId } from '../ids.ts';
import { webhookDeliveries, webhooks, type WebhookRow } from './table.ts';

export interface NewWebhook {
  projectId: string;
  url: string;
  events: readonly WebhookEvent[];
  labels: Record<string, string>;
  active: boolean;
}

/** Each event writes a row for every webhook that hears of it. */
export const mostWebhooks = 50;

const owned = (projectId: string, id: string) => and(eq(webhooks.projectId, projectId), eq(webhooks.id, id));

/** As Standard Webhooks writes a secret: 32 random bytes in base64. */
const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Undefined if the project has as many as it may. Of many callers at once one or two too many may pass. */
export async function insertWebhook(db: Database, given: NewWebhook): Promise<WebhookRow | undefined> {
  const count = await db.$count(webhooks, eq(webhooks.projectId, given.projectId));
  if (count >= mostWebhooks) return undefined;
  const [row] = await db
    .insert(webhooks)
    .values({ ...given, events: [...given.events], id: newId('hook'), secret: newSecret() })
    .returning();
  return row;
}

/** Switched on again it begins without its history of failures. Undefined if the project has no such webhook. */
export async function changeWebhook(
  db: Database,
  projectId: string,
  id: string,
  changes: WebhookChanges,
): Promise<WebhookRow | undefined> {
  const { url, events, labels, active } = changes;
  const [row] = await db
    .update(webhooks)
    .set({
      ...(url !== undefined && { url }),
      ...(events !== undefined && { events }),
      ...(labels !== undefined && { labels }),
      ...(active !== undefined && { active }),
      ...(active === true && { reason: null, failingSince: null }),
    })
    .where(owned(projectId, id))
    .returning();
  return row;
}

/** The former secret signs as well for so long. */
export async function rotateSecret(
  db: Database,
  projectId: string,
  id: string,
  overlapMs: number,
): Promise<WebhookRow | undefined> {
  const [row] = await db
    .update(webhooks)
    .set({
      secret: newSecret(),
      formerSecret: sql`${webhooks.secret}`,
      formerSecretUntil: sql`now() + ${overlapMs} * interval '1 millisecond'`,
    })
    .where(owned(projectId, id))
    .returning();
  return row;
}

/** With its deliveries; false if the project has no such webhook. */
export async function deleteWebhook(db: Database, projectId: string, id: string): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const rows = await tx.delete(webhooks).where(owned(projectId, id)).returning({ id: webhooks.id });
    if (rows.length === 0) return false;
    await tx.delete(webhookDeliveries).where(eq(webhookDeliveries.webhookId, id));
    return true;
  });
}

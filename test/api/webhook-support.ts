// Webhooks against a receiver that a test scripts: made, told, looked at.
import { pino } from 'pino';
import { ensureProject } from '../../db/projects.ts';
import { webhookDeliveries } from '../../db/webhooks/table.ts';
import type { WebhookInput } from '../../api/contract/webhook.ts';
import { webhookEvents } from '../../api/contract/webhook.ts';
import { Outgoing } from '../../api/outgoing.ts';
import { deliverDue } from '../../api/webhooks/deliver.ts';
import type { Sending } from '../../api/webhooks/send.ts';
import type { Database } from '../../db/connect.ts';
import { insertJob, insertProject } from '../db/support.ts';
import type { Fixture } from './support.ts';

export const sending = (db: Database, changes: Partial<Sending> = {}): Sending => ({
  db,
  log: pino({ enabled: false }),
  outgoing: new Outgoing({ allowPrivate: true }),
  now: () => new Date(),
  timeoutMs: 5_000,
  ...changes,
});

export const deliver = (db: Database, changes: Partial<Sending> = {}): Promise<number> =>
  deliverDue(sending(db, changes));

export const hear = (url: string, changes: Partial<WebhookInput> = {}): WebhookInput => ({
  url,
  events: [...webhookEvents],
  ...changes,
});

/** A job of the fixture's project, as it came to `state`. */
export async function jobOf(
  api: Fixture,
  state: Parameters<typeof insertJob>[1]['state'],
  labels: Record<string, string> = {},
): Promise<string> {
  const projectId = await ensureProject(api.database.db, 'ours');
  return await insertJob(api.database.db, {
    projectId,
    ...(state !== undefined && { state }),
    spec: { labels },
  });
}

export const strangersJob = async (api: Fixture): Promise<string> =>
  insertJob(api.database.db, { projectId: await insertProject(api.database.db), state: 'cancelled' });

export const allDeliveries = (db: Database) =>
  db.select().from(webhookDeliveries).orderBy(webhookDeliveries.seq);

/** What waits for its time does not have to wait. */
export async function makeDue(api: Fixture): Promise<void> {
  await api.database.sql`update webhook_deliveries set next_at = now() where state = 'pending'`;
}

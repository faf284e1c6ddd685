// Deliveries on their way: claimed for a try, ended by its outcome, begun again, made for a test, forgotten. A claim is a lease: of a
// process that dies in the middle the next one takes over, so a receiver may get a delivery twice, and no delivery is lost.
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { DeliveredEvent, WebhookPayload } from '../../api/contract/webhook.ts';
import { webhookTestEvent } from '../../api/contract/webhook.ts';
import type { Database } from '../connect.ts';
import { newId } from '../ids.ts';
import { storableText } from '../json.ts';
import { thisMoment } from '../queue/fence.ts';
import { webhookDeliveries, type WebhookDeliveryRow, type WebhookRow } from './table.ts';

export interface ClaimedDelivery {
  id: string;
  webhookId: string;
  projectId: string;
  type: DeliveredEvent;
  job: WebhookPayload['job'];
  seq: number | null;
  createdAt: Date;
  /** Number of this try: its fence. */
  attempt: number;
  /** Tries of this round that failed before it. */
  failures: number;
  url: string;
  /** The present one, then the former one while it counts. */
  secrets: string[];
}

export interface ClaimDeliveries {
  limit: number;
  /** Of one webhook: a slow receiver takes no more. */
  perWebhook: number;
  /** Webhooks that have as many under way. */
  busy: readonly string[];
  leaseMs: number;
}

/** Those that are due, of webhooks in no particular order, so that none has to wait for another. */
export async function claimDeliveries(db: Database, claim: ClaimDeliveries): Promise<ClaimedDelivery[]> {
  const rows = await db.execute<Record<string, unknown>>(sql`
    with due as materialized (
      select d.id
      from (select id, active from webhooks where id <> all (${`{${claim.busy.join(',')}}`}::text[]) order by random()) w
      cross join lateral (
        select id from webhook_deliveries
        where webhook_id = w.id and state = 'pending' and next_at <= ${thisMoment} and (w.active or type = ${webhookTestEvent})
        order by next_at limit ${claim.perWebhook} for update skip locked
      ) d
      limit ${claim.limit}
    )
    update webhook_deliveries d
    set attempts = d.attempts + 1, last_attempt_at = now(), next_at = now() + ${claim.leaseMs} * interval '1 millisecond'
    from due, webhooks w
    where d.id = due.id and w.id = d.webhook_id
    returning d.id, d.webhook_id, d.project_id, d.type, d.job, d.seq, d.created_at, d.attempts, d.failures, w.url, w.secret,
      case when w.former_secret_until > now() then w.former_secret end as former_secret`);
  return rows.map(asClaimed);
}

/** Raw rows come with text for times and big numbers. */
function asClaimed(row: Record<string, unknown>): ClaimedDelivery {
  const { id, webhook_id, project_id, type, job, seq, created_at, attempts, failures, url } = row;
  return {
    id: id as string,
    webhookId: webhook_id as string,
    projectId: project_id as string,
    type: type as DeliveredEvent,
    job: (typeof job === 'string' ? JSON.parse(job) : job) as WebhookPayload['job'],
    seq: seq === null ? null : Number(seq),
    createdAt: new Date(created_at as string),
    attempt: attempts as number,
    failures: failures as number,
    url: url as string,
    secrets: [row['secret'], row['former_secret']].filter((one) => typeof one === 'string'),
  };
}

export interface Tried {
  id: string;
  attempt: number;
  /** Null: there was no answer. */
  status: number | null;
  response: string | null;
}

const kept = (text: string | null): string | null => (text === null ? null : storableText(text));

/** A success ends the webhook's history of failures. Nothing changes where another try has begun meanwhile. */
export async function recordDelivered(db: Database, { id, attempt, status, response }: Tried): Promise<void> {
  await db.execute(sql`
    with told as (
      update webhook_deliveries set state = 'delivered', last_status = ${status}, last_error = null, last_response = ${kept(response)}
      where id = ${id} and attempts = ${attempt} and state = 'pending'
      returning webhook_id
    )
    update webhooks set failing_since = null
    where id in (select webhook_id from told) and failing_since is not null`);
}

export interface Failed extends Tried {
  error: string;
  /** Null: it is given up. */
  retryMs: number | null;
}

export async function recordFailure(db: Database, failed: Failed): Promise<void> {
  const given = failed.retryMs === null;
  await db.execute(sql`
    with told as (
      update webhook_deliveries
      set state = ${given ? 'failed' : 'pending'}, failures = failures + 1, next_at = now() + ${failed.retryMs ?? 0} * interval '1 millisecond',
        last_status = ${failed.status}, last_error = ${kept(failed.error)}, last_response = ${kept(failed.response)}
      where id = ${failed.id} and attempts = ${failed.attempt} and state = 'pending'
      returning webhook_id, type
    )
    update webhooks set failing_since = now()
    where id in (select webhook_id from told where type <> ${webhookTestEvent}) and failing_since is null`);
}

/** Switches a webhook off where nothing has been delivered to it for so long; true if it does. */
export async function switchOff(
  db: Database,
  webhookId: string,
  { failingMs, reason }: { failingMs: number; reason: string },
): Promise<boolean> {
  const rows = await db.execute(sql`
    update webhooks set active = false, reason = ${kept(reason)}
    where id = ${webhookId} and active and failing_since <= now() - ${failingMs} * interval '1 millisecond'
    returning id`);
  return rows.length > 0;
}

/** A delivery that has ended is sent again, with all its retries before it; undefined if it has not ended. */
export async function replayDelivery(
  db: Database,
  webhookId: string,
  id: string,
): Promise<WebhookDeliveryRow | undefined> {
  const [row] = await db
    .update(webhookDeliveries)
    .set({ state: 'pending', failures: 0, nextAt: sql`now()` })
    .where(
      and(
        eq(webhookDeliveries.webhookId, webhookId),
        eq(webhookDeliveries.id, id),
        inArray(webhookDeliveries.state, ['delivered', 'failed']),
      ),
    )
    .returning();
  return row;
}

/** A delivery that tells of nothing. */
export async function insertTest(
  db: Database,
  { id, projectId }: Pick<WebhookRow, 'id' | 'projectId'>,
): Promise<WebhookDeliveryRow> {
  const [row] = await db
    .insert(webhookDeliveries)
    .values({ id: newId('dlv'), webhookId: id, projectId, type: webhookTestEvent })
    .returning();
  if (row === undefined) throw new Error('internal: the insert of a delivery returned no row');
  return row;
}

/** Deletes the oldest that were made so long ago, `limit` at most, whatever became of them; how many. */
export async function forgetDeliveries(db: Database, olderThanMs: number, limit: number): Promise<number> {
  const rows = await db.execute(sql`
    delete from webhook_deliveries where id in (
      select id from webhook_deliveries where created_at < now() - ${olderThanMs} * interval '1 millisecond'
      order by created_at limit ${limit} for update skip locked)
    returning id`);
  return rows.length;
}

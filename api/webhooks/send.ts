// One try of one delivery: the request and what its outcome is in the database. Only 2xx counts as delivered.
import type { Logger } from 'pino';
import type { Database } from '../../db/connect.ts';
import {
  recordDelivered,
  recordFailure,
  switchOff,
  type ClaimedDelivery,
} from '../../db/webhooks/deliveries.ts';
import { keptResponseBytes, webhookTestEvent, type WebhookPayload } from '../contract/webhook.ts';
import type { Outgoing, OutgoingAnswer } from '../outgoing.ts';
import { Unreachable } from '../outgoing.ts';
import { failingMs, retryPause } from './retry.ts';
import { signatureHeaders } from './sign.ts';

export interface Sending {
  readonly db: Database;
  readonly log: Logger;
  readonly outgoing: Outgoing;
  readonly now: () => Date;
  readonly timeoutMs: number;
}

export function payloadOf(delivery: ClaimedDelivery): WebhookPayload {
  const { id, type, createdAt, projectId, job, seq } = delivery;
  return {
    id,
    type,
    created_at: createdAt.toISOString(),
    project: projectId,
    job: job && { id: job.id, name: job.name, state: job.state, reason: job.reason, labels: job.labels },
    seq,
  };
}

export async function sendDelivery(sending: Sending, delivery: ClaimedDelivery): Promise<void> {
  const answer = await post(sending, delivery);
  const tried = { id: delivery.id, attempt: delivery.attempt };
  if (answer instanceof Unreachable)
    return await failed(sending, delivery, { ...tried, status: null, response: null, error: answer.message });
  const { status, body } = answer;
  if (status >= 200 && status <= 299)
    return await recordDelivered(sending.db, { ...tried, status, response: body });
  await failed(sending, delivery, { ...tried, status, response: body, error: refusal(status) });
}

async function post(
  { outgoing, now, timeoutMs }: Sending,
  delivery: ClaimedDelivery,
): Promise<OutgoingAnswer | Unreachable> {
  const body = JSON.stringify(payloadOf(delivery));
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'millrace-webhooks/1',
    ...signatureHeaders({ id: delivery.id, at: now(), body }, delivery.secrets),
  };
  const request = { headers, body, timeoutMs, maxBytes: keptResponseBytes, cut: true };
  return await outgoing.post(delivery.url, request).catch((error: unknown) => {
    if (error instanceof Unreachable) return error;
    throw error;
  });
}

const refusal = (status: number): string =>
  status >= 300 && status <= 399
    ? `it answered ${status}: redirects are not followed, name the address itself`
    : `it answered ${status}`;

/** As Standard Webhooks has it, 410 says that nobody wants them any more. */
const isGone = (status: number | null): boolean => status === 410;

interface FailedTry {
  readonly id: string;
  readonly attempt: number;
  readonly status: number | null;
  readonly response: string | null;
  readonly error: string;
}

async function failed({ db, log }: Sending, delivery: ClaimedDelivery, tried: FailedTry): Promise<void> {
  const isTest = delivery.type === webhookTestEvent;
  const retryMs = isTest || isGone(tried.status) ? null : retryPause(delivery.failures + 1);
  await recordFailure(db, { ...tried, retryMs });
  if (retryMs !== null || isTest) return;
  const reason = isGone(tried.status)
    ? 'the receiver answered 410: it is gone'
    : `nothing was delivered for ${failingMs / 86_400_000} days; the last try: ${tried.error}`;
  const off = await switchOff(db, delivery.webhookId, {
    failingMs: isGone(tried.status) ? 0 : failingMs,
    reason,
  });
  if (off) log.warn({ webhook: delivery.webhookId, reason }, 'webhook switched off');
}

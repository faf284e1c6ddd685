// For receivers: whether a request is a delivery of a webhook whose secret they know. By Web Crypto alone, so that it runs anywhere;
// any library of Standard Webhooks does the same.
import { webhookPayload } from '../contract/webhook.ts';
import type { WebhookPayload } from '../contract/webhook.ts';

export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

export interface ReceivedWebhook {
  /** Begins with whsec_. */
  readonly secret: string;
  readonly headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
  /** The bytes as they came: parsed and written again they have another signature. */
  readonly body: string | Uint8Array;
  readonly now?: Date;
  /** How far the sender's clock may be away: what is older may be a recording that somebody plays. Default 5 minutes. */
  readonly toleranceMs?: number;
}

/** What it tells. The same `id` may come more than once. @throws WebhookError naming what is wrong. */
export async function verifyWebhook(received: ReceivedWebhook): Promise<WebhookPayload> {
  const { now = new Date(), toleranceMs = 300_000 } = received;
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    header(received.headers, name),
  ) as [string, string, string];
  const at = Number(timestamp) * 1_000;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now.getTime() - at) > toleranceMs)
    throw new WebhookError(`webhook-timestamp is ${timestamp}: more than ${toleranceMs} ms from now`);
  const bytes = new TextEncoder();
  const body = typeof received.body === 'string' ? received.body : new TextDecoder().decode(received.body);
  const secret = Uint8Array.from(atob(received.secret.replace(/^whsec_/, '')), (one) => one.charCodeAt(0));
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
  const signed = bytes.encode(`${id}.${timestamp}.${body}`);
  for (const signature of signatures.split(' ')) {
    const given = decoded(/^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature)?.[1]);
    if (given !== undefined && (await crypto.subtle.verify('HMAC', key, given, signed))) return read(body);
  }
  throw new WebhookError('webhook-signature is not by this secret');
}

const decoded = (text: string | undefined): Uint8Array<ArrayBuffer> | undefined =>
  text === undefined ? undefined : Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

function header(headers: ReceivedWebhook['headers'], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== 'string') throw new WebhookError(`the header ${name} is missing`);
  return value;
}

function read(body: string): WebhookPayload {
  const parsed = webhookPayload.safeParse(JSON.parse(body));
  if (parsed.success) return parsed.data;
  throw new WebhookError(`the body is not what this version expects: ${parsed.error.message}`);
}

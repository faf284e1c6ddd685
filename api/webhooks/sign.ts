// Signatures as Standard Webhooks has them: HMAC-SHA-256 over "id.timestamp.body".
import { createHmac } from 'node:crypto';

export interface Signed {
  readonly id: string;
  /** Of the attempt, not of the event. */
  readonly at: Date;
  readonly body: string;
}

/** `secrets` begin with whsec_; each signs, so that a receiver may know the new one or the former. */
export function signatureHeaders(
  { id, at, body }: Signed,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

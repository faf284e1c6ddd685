// Signatures of deliveries: against the vector of Standard Webhooks, and against what receivers are given to verify them.
import { expect, test } from 'vitest';
import { verifyWebhook, WebhookError } from '../../api/client.ts';
import { signatureHeaders } from '../../api/webhooks/sign.ts';

// From the tests of the libraries at https://github.com/standard-webhooks/standard-webhooks.
const vector = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  at: new Date(1_614_265_330_000),
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

test('the vector of Standard Webhooks', () => {
  expect(signatureHeaders(vector, [vector.secret])).toEqual({
    'webhook-id': vector.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': vector.signature,
  });
});

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const former = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const now = new Date('2026-05-01T12:00:00Z');
const body = JSON.stringify({
  id: `dlv_${'0'.repeat(26)}`,
  type: 'job.failed',
  created_at: now.toISOString(),
  project: 'proj_1',
  job: {
    id: `job_${'0'.repeat(26)}`,
    name: 'größer',
    state: 'failed',
    reason: 'diverged',
    labels: { team: 'a' },
  },
  seq: 7,
});
const headers = signatureHeaders({ id: 'dlv_1', at: now, body }, [secret]);

test('what is signed is verified, as text, as bytes and with Headers', async () => {
  const expected = JSON.parse(body) as unknown;
  expect(await verifyWebhook({ secret, headers, body, now })).toEqual(expected);
  const bytes = new TextEncoder().encode(body);
  expect(await verifyWebhook({ secret, headers: new Headers(headers), body: bytes, now })).toEqual(expected);
});

test('while a secret is changed both verify, and no third one', async () => {
  const both = signatureHeaders({ id: 'dlv_1', at: now, body }, [secret, former]);
  for (const one of [secret, former])
    await expect(verifyWebhook({ secret: one, headers: both, body, now })).resolves.toMatchObject({ seq: 7 });
  const third = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  await expect(verifyWebhook({ secret: third, headers: both, body, now })).rejects.toThrow(
    /not by this secret/,
  );
});

test.each([
  ['another body', { body: body.replace('7', '8') }],
  ['another id', { headers: { ...headers, 'webhook-id': 'dlv_2' } }],
  ['another time', { headers: { ...headers, 'webhook-timestamp': String(now.getTime() / 1000 + 1) } }],
  ['a time that is none', { headers: { ...headers, 'webhook-timestamp': 'NaN' } }],
  ['an old one', { now: new Date(now.getTime() + 300_001) }],
  ['one of the future', { now: new Date(now.getTime() - 300_001) }],
  ['no signature', { headers: { ...headers, 'webhook-signature': undefined } }],
  [
    'a signature of another version',
    { headers: { ...headers, 'webhook-signature': headers['webhook-signature']!.replace('v1,', 'v2,') } },
  ],
  ['half a signature', { headers: { ...headers, 'webhook-signature': 'v1,abcd' } }],
])('refused: %s', async (_, changes) => {
  await expect(verifyWebhook({ secret, headers, body, now, ...changes })).rejects.toThrow(WebhookError);
});

// Webhooks over HTTP: made, listed, changed, taken away; whose they are; which addresses they may have.
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../api/contract/problem.ts';
import { scopes } from '../../api/contract/keys.ts';
import type { Webhook } from '../../api/contract/webhook.ts';
import { useApi } from './support.ts';
import { hear } from './webhook-support.ts';

const api = useApi({ allowPrivateAddresses: true });
const closed = useApi();
const url = 'http://127.0.0.1:9/hook';

test('a webhook is made with a secret that no later answer has', async () => {
  const client = api.client();
  const { secret, ...made } = await client.createWebhook(hear(url, { labels: { team: 'a' } }));
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(made).toMatchObject({ url, labels: { team: 'a' }, active: true, reason: null, failing_since: null });
  expect(await client.webhook(made.id)).toEqual(made);
  expect((await client.webhooks()).data[0]).toEqual(made);
  const text = JSON.stringify([await client.webhooks(), await client.webhookDeliveries(made.id)]);
  expect(text).not.toContain(secret);
});

test('changed: what is given changes, the rest stays', async () => {
  const client = api.client();
  const { id } = await client.createWebhook(hear(url));
  const changed = await client.changeWebhook(id, { events: ['job.failed'], active: false });
  expect(changed).toMatchObject({ url, events: ['job.failed'], labels: {}, active: false });
  expect(await client.webhook(id)).toEqual(changed);
});

test('a new secret is another one', async () => {
  const client = api.client();
  const made = await client.createWebhook(hear(url));
  const rotated = await client.rotateWebhookSecret(made.id);
  expect(rotated.secret).not.toBe(made.secret);
  expect(rotated.id).toBe(made.id);
});

test('taken away, it is gone', async () => {
  const client = api.client();
  const { id } = await client.createWebhook(hear(url));
  await client.deleteWebhook(id);
  await expect(client.webhook(id)).rejects.toMatchObject({ code: 'not_found' });
  await expect(client.deleteWebhook(id)).rejects.toMatchObject({ code: 'not_found' });
});

test('one Idempotency-Key makes one webhook', async () => {
  const creating = { idempotencyKey: 'once' };
  const first = await api.client().createWebhook(hear(url), creating);
  expect(await api.client().createWebhook(hear(url), creating)).toEqual(first);
  await expect(
    api.client().createWebhook(hear(url, { events: ['evaluation'] }), creating),
  ).rejects.toMatchObject({ code: 'idempotency_conflict' });
});

test('a project has 50 at most', async () => {
  const client = closed.client();
  for (let made = 0; made < 50; made++) await client.createWebhook(hear('https://example.com/'));
  await expect(client.createWebhook(hear('https://example.com/'))).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('50 webhooks') as string,
  });
});

describe('whose they are', () => {
  const calls = (id: string, delivery: string): [string, string, object?][] => [
    ['GET', '/v1/webhooks'],
    ['POST', '/v1/webhooks', hear(url)],
    ['GET', `/v1/webhooks/${id}`],
    ['PATCH', `/v1/webhooks/${id}`, { active: true }],
    ['POST', `/v1/webhooks/${id}/rotate-secret`],
    ['GET', `/v1/webhooks/${id}/deliveries`],
    ['POST', `/v1/webhooks/${id}/test`],
    ['POST', `/v1/webhooks/${id}/deliveries/${delivery}/replay`],
    ['DELETE', `/v1/webhooks/${id}`],
  ];

  test.each(scopes.filter((scope) => scope !== 'admin'))('not for the scope %s', async (scope) => {
    const { id } = await api.client().createWebhook(hear(url));
    const { id: delivery } = await api.client().testWebhook(id);
    for (const [method, path, json] of calls(id, delivery)) {
      const response = await api.request(method, path, { key: api.keys[scope], ...(json && { json }) });
      expect([method, path, response.status]).toEqual([method, path, 403]);
    }
  });

  test('not for another project, to which they look like what does not exist', async () => {
    const { id } = await api.client().createWebhook(hear(url));
    const { id: delivery } = await api.client().testWebhook(id);
    for (const [method, path, json] of calls(id, delivery).slice(2)) {
      const response = await api.request(method, path, { key: api.strangerKey, ...(json && { json }) });
      expect([method, path, response.status]).toEqual([method, path, 404]);
    }
    const strangers = await api.client(api.strangerKey).webhooks();
    expect(strangers.data.map((one: Webhook) => one.id)).not.toContain(id);
  });
});

describe('addresses', () => {
  const refused = async (fixture: typeof api, json: object, path = '/v1/webhooks', method = 'POST') => {
    const response = await fixture.request(method, path, { json });
    return { status: response.status, issues: ((await response.json()) as Problem).issues };
  };

  test.each(['http://127.0.0.1/', 'http://localhost:80/', 'http://10.0.0.1/', 'http://[::1]/'])(
    '%s is private: only where the service allows it',
    async (address) => {
      const fault = { pointer: '/url', message: expect.stringMatching(/MILLRACE_ALLOW_PRIVATE/) as string };
      expect(await refused(closed, hear(address))).toEqual({ status: 422, issues: [fault] });
      expect((await api.request('POST', '/v1/webhooks', { json: hear(address) })).status).toBe(201);
    },
  );

  test.each(['http://169.254.169.254/latest', 'ftp://example.com/', 'https://user:word@example.com/', 'x'])(
    '%s is taken by no service',
    async (address) => {
      for (const fixture of [api, closed])
        expect(await refused(fixture, hear(address))).toMatchObject({
          status: 422,
          issues: [{ pointer: '/url' }],
        });
    },
  );

  test('a change is looked at as well', async () => {
    const [{ id }] = (await closed.client().webhooks({ limit: 1 })).data as [Webhook];
    const change = { url: 'http://192.168.1.1/' };
    expect(await refused(closed, change, `/v1/webhooks/${id}`, 'PATCH')).toMatchObject({ status: 422 });
  });
});

test.each([
  ['an event that is none', { events: ['job.exploded'] }, '/events/0'],
  ['no events', { events: [] }, '/events'],
  ['an event twice', { events: ['evaluation', 'evaluation'] }, '/events'],
  ['an unknown field', { secret: 'mine' }, '/secret'],
  ['labels that are none', { labels: { a: 1 } }, '/labels/a'],
])('refused with its place: %s', async (_, changes, pointer) => {
  const response = await api.request('POST', '/v1/webhooks', { json: { ...hear(url), ...changes } });
  expect(response.status).toBe(422);
  expect(((await response.json()) as Problem).issues).toMatchObject([{ pointer }]);
});

test('an empty change is refused', async () => {
  const { id } = await api.client().createWebhook(hear(url));
  expect((await api.request('PATCH', `/v1/webhooks/${id}`, { json: {} })).status).toBe(422);
});

// Deliveries: made in the transaction of the event, sent to a real receiver, tried again, given up, sent again on demand.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { verifyWebhook } from '../../api/client.ts';
import type { Entry } from '../../api/contract/event.ts';
import type { WebhookPayload } from '../../api/contract/webhook.ts';
import { Outgoing } from '../../api/outgoing.ts';
import { deliverDue } from '../../api/webhooks/deliver.ts';
import { failingMs, retryPausesMs } from '../../api/webhooks/retry.ts';
import { cancelJob } from '../../db/queue/cancel.ts';
import { ensureProject } from '../../db/projects.ts';
import { claimDeliveries, forgetDeliveries } from '../../db/webhooks/deliveries.ts';
import { webhookDeliveries, webhooks } from '../../db/webhooks/table.ts';
import { json, useHttpService } from '../rewards/http-service.ts';
import { claimOne, registerDatasets, spec, useApi } from './support.ts';
import { allDeliveries, deliver, hear, jobOf, makeDue, sending, strangersJob } from './webhook-support.ts';

const api = useApi({ allowPrivateAddresses: true });
const receiver = useHttpService();
const { database } = api;

beforeEach(async () => {
  await database.db.delete(webhookDeliveries);
  await database.db.delete(webhooks);
  receiver.answer = json({ ok: true });
});

const bodies = (): WebhookPayload[] =>
  receiver.received.map(({ body }) => JSON.parse(body) as WebhookPayload);
const states = async () => (await allDeliveries(database.db)).map(({ state }) => state);

describe('what is told', () => {
  test('every event of a job that runs, by the runner protocol, signed, with its place in the history', async () => {
    const client = api.client();
    const { id: hook, secret } = await client.createWebhook(hear(receiver.url));
    await registerDatasets(client);
    const { id } = await client.createJob(spec({ labels: { team: 'a' } }));
    const { fence } = await claimOne(client);
    const gate = { type: 'gate', gate: 0, after: 'sft', metric: 'sums.non_thinking.avg@1', value: 0, low: 0, high: 0, limit: 1 } as const; // prettier-ignore
    const entries: Entry[] = [
      { type: 'stage_started', stage: 'sft', stage_index: 0, steps: 2 },
      { type: 'evaluation', after: 'initial', cells: [] },
      { ...gate, result: 'held' },
      { ...gate, result: 'fired' },
    ];
    await client.runner.report({ ...fence, sequence: 1, log: '', entries });
    const checkpoint = {
      stage: 'sft',
      stage_index: 0,
      step: 1,
      kind: 'step',
      prefix: `jobs/${id}/a1/0-sft/step-000001/`,
      manifest_sha256: 'a'.repeat(64),
      size: 1,
      files: [{ name: 'model.safetensors', size: 1, sha256: 'a'.repeat(64) }],
    } as const;
    await client.runner.checkpoint({ ...fence, checkpoint: { ...checkpoint, files: [...checkpoint.files] } });
    await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });

    expect(await deliver(database.db)).toBe(5);
    const told = bodies().sort((a, b) => a.seq! - b.seq!);
    expect(told.map(({ type, job }) => [type, job?.state])).toEqual([
      ['job.started', 'running'],
      ['evaluation', 'running'],
      ['job.gate_failed', 'running'],
      ['checkpoint.committed', 'running'],
      ['job.succeeded', 'succeeded'],
    ]);
    expect(told[0]?.job).toEqual({
      id,
      name: 'small',
      state: 'running',
      reason: null,
      labels: { team: 'a' },
    });
    const events = (await client.eventsPage(id)).data;
    for (const { seq, created_at, project } of told) {
      expect(events.find((event) => event.seq === seq)?.created_at).toBe(created_at);
      expect(project).toBe(await ensureProject(database.db, 'ours'));
    }
    for (const { headers, body } of receiver.received) {
      const payload = await verifyWebhook({ secret, headers: headers as Record<string, string>, body });
      expect(headers['webhook-id']).toBe(payload.id);
    }
    const { data } = await client.webhookDeliveries(hook);
    expect(data.map(({ state, attempts, last_status, last_response }) => [state, attempts, last_status, last_response])).toEqual(Array(5).fill(['delivered', 1, 200, '{"ok":true}'])); // prettier-ignore
    expect(await deliver(database.db)).toBe(0);
  });

  test.each(['paused', 'succeeded', 'failed', 'cancelled'] as const)('job.%s', async (state) => {
    await api.client().createWebhook(hear(receiver.url, { events: [`job.${state}`] }));
    const id = await jobOf(api, state);
    await deliver(database.db);
    expect(bodies()).toMatchObject([{ type: `job.${state}`, job: { id, state } }]);
  });

  test('only events that the webhook asks for, of jobs with its labels, of its project', async () => {
    await api
      .client()
      .createWebhook(hear(receiver.url, { events: ['job.cancelled'], labels: { team: 'a' } }));
    const id = await jobOf(api, 'cancelled', { team: 'a', more: 'b' });
    await jobOf(api, 'failed', { team: 'a' });
    await jobOf(api, 'cancelled', { team: 'b' });
    await jobOf(api, 'cancelled');
    await strangersJob(api);
    await deliver(database.db);
    expect(bodies().map(({ job }) => job?.id)).toEqual([id]);
  });

  test('nothing while the webhook is switched off, and nothing of before it was made', async () => {
    await jobOf(api, 'cancelled');
    const { id } = await api.client().createWebhook(hear(receiver.url, { active: false }));
    await jobOf(api, 'cancelled');
    await api.client().changeWebhook(id, { active: true });
    expect(await deliver(database.db)).toBe(0);
  });

  test('an event that is rolled back is told to nobody, one that commits leaves its delivery with it', async () => {
    await api.client().createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
    const id = await jobOf(api, 'queued');
    const projectId = await ensureProject(database.db, 'ours');
    await expect(
      database.db.transaction(async (tx) => {
        expect(await cancelJob(tx, projectId, id)).toBe('cancelled');
        expect(await allDeliveries(tx)).toHaveLength(1);
        expect(await allDeliveries(database.db)).toHaveLength(0);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await allDeliveries(database.db)).toHaveLength(0);
    await cancelJob(database.db, projectId, id);
    expect(await allDeliveries(database.db)).toMatchObject([{ jobId: id, state: 'pending' }]);
  });

  test('a webhook that is deleted while its event commits takes nothing with it', async () => {
    const { id: hook } = await api.client().createWebhook(hear(receiver.url));
    const id = await jobOf(api, 'queued');
    const projectId = await ensureProject(database.db, 'ours');
    await database.db.transaction(async (tx) => {
      await cancelJob(tx, projectId, id);
      await api.client().deleteWebhook(hook);
    });
    expect((await api.client().job(id)).state).toBe('cancelled');
    expect(await deliver(database.db)).toBe(0);
  });
});

describe('what goes wrong', () => {
  test('a failure is tried again after each pause, then given up; a replay begins anew, under the same id', async () => {
    const client = api.client();
    const { id: hook } = await client.createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
    await jobOf(api, 'cancelled');
    receiver.answer = json({ why: 'no' }, 500);
    for (const [failures, pause] of retryPausesMs.entries()) {
      await makeDue(api);
      expect(await deliver(database.db)).toBe(1);
      const [row] = await allDeliveries(database.db);
      expect(row).toMatchObject({ state: 'pending', attempts: failures + 1, failures: failures + 1 });
      const waits = row!.nextAt.getTime() - row!.lastAttemptAt!.getTime();
      expect(waits).toBeGreaterThanOrEqual(pause - 1);
      expect(waits).toBeLessThan(pause * 1.1 + 30_000);
      expect(await deliver(database.db)).toBe(0);
    }
    await makeDue(api);
    await deliver(database.db);
    const [failed] = (await client.webhookDeliveries(hook, { state: 'failed' })).data;
    expect(failed).toMatchObject({
      attempts: 8,
      next_attempt_at: null,
      last_status: 500,
      last_error: 'it answered 500',
      last_response: '{"why":"no"}',
    });
    await makeDue(api);
    expect(await deliver(database.db)).toBe(0);

    receiver.answer = json({});
    expect(await client.replayDelivery(hook, failed!.id)).toMatchObject({ state: 'pending', attempts: 8 });
    await expect(client.replayDelivery(hook, failed!.id)).rejects.toMatchObject({ code: 'conflict' });
    await deliver(database.db);
    expect((await client.webhookDeliveries(hook)).data).toMatchObject([{ state: 'delivered', attempts: 9 }]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([failed!.id]),
    );
    expect((await client.webhook(hook)).failing_since).toBeNull();
  });

  test('a delivery that is not there is not replayed', async () => {
    const client = api.client();
    const { id } = await client.createWebhook(hear(receiver.url));
    await expect(client.replayDelivery(id, `dlv_${'0'.repeat(26)}`)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test.each([
    [
      'a redirect is not followed',
      302,
      { location: '/elsewhere' },
      /^it answered 302: redirects are not followed/,
    ],
    ['a refusal', 404, {}, /^it answered 404$/],
  ])('%s', async (_, status, headers, error) => {
    await api.client().createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
    await jobOf(api, 'cancelled');
    receiver.answer = json({}, status, headers);
    await deliver(database.db);
    expect(receiver.received).toHaveLength(1);
    expect(await allDeliveries(database.db)).toMatchObject([{ state: 'pending', lastStatus: status, lastError: expect.stringMatching(error) as string }]); // prettier-ignore
  });

  test('of a long answer the beginning is kept, and its status counts', async () => {
    await api.client().createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
    await jobOf(api, 'cancelled');
    receiver.answer = (_, response) => void response.writeHead(200).end('x'.repeat(5_000_000));
    await deliver(database.db);
    expect(await allDeliveries(database.db)).toMatchObject([{ state: 'delivered', lastResponse: 'x'.repeat(1024) }]); // prettier-ignore
  });

  test('an answer that Postgres cannot keep is kept all the same', async () => {
    await api.client().createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
    await jobOf(api, 'cancelled');
    receiver.answer = (_, response) => void response.writeHead(500).end('a\0b');
    await deliver(database.db);
    expect(await allDeliveries(database.db)).toMatchObject([{ lastResponse: 'a\uFFFDb' }]);
  });

  test('nobody there: an error with its address, without its query', async () => {
    await api
      .client()
      .createWebhook(hear('http://127.0.0.1:9/hook?token=hidden', { events: ['job.cancelled'] }));
    await jobOf(api, 'cancelled');
    await deliver(database.db);
    const [row] = await allDeliveries(database.db);
    expect(row).toMatchObject({ state: 'pending', lastStatus: null, lastError: expect.stringContaining('127.0.0.1:9/hook') as string }); // prettier-ignore
    expect(row?.lastError).not.toContain('hidden');
  });

  test('a name that leads into a private network is not called', async () => {
    await api
      .client()
      .createWebhook(hear(`http://receiver.test:${receiver.port}/`, { events: ['job.cancelled'] }));
    await jobOf(api, 'cancelled');
    const outgoing = new Outgoing({
      allowPrivate: false,
      resolve: (_name, _options, answer) => answer(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    await deliver(database.db, { outgoing });
    expect(receiver.received).toEqual([]);
    expect(await allDeliveries(database.db)).toMatchObject([{ state: 'pending', lastError: expect.stringContaining('resolves to 127.0.0.1') as string }]); // prettier-ignore
  });

  const failFor = async (id: string, ms: number): Promise<void> => {
    await database.db
      .update(webhooks)
      .set({ failingSince: new Date(Date.now() - ms) })
      .where(eq(webhooks.id, id));
  };

  test('after five days without a success, a delivery that is given up switches the webhook off', async () => {
    const client = api.client();
    const { id } = await client.createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
    await jobOf(api, 'cancelled');
    receiver.answer = json({}, 503);
    await deliver(database.db);
    expect((await client.webhook(id)).failing_since).not.toBeNull();
    await database.db.update(webhookDeliveries).set({ failures: retryPausesMs.length });
    await failFor(id, failingMs - 60_000);
    await makeDue(api);
    await deliver(database.db);
    expect(await client.webhook(id)).toMatchObject({ active: true });

    await jobOf(api, 'cancelled');
    await database.sql`update webhook_deliveries set failures = ${retryPausesMs.length}`;
    await failFor(id, failingMs + 60_000);
    await makeDue(api);
    await deliver(database.db);
    expect(await client.webhook(id)).toMatchObject({
      active: false,
      reason: 'nothing was delivered for 5 days; the last try: it answered 503',
    });
    await client.changeWebhook(id, { active: true });
    expect(await client.webhook(id)).toMatchObject({ active: true, reason: null, failing_since: null });
  });

  test('a receiver that says 410 is told nothing more; what waits is sent when it is switched on again', async () => {
    const client = api.client();
    const { id } = await client.createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
    await jobOf(api, 'cancelled');
    receiver.answer = json({}, 410);
    await deliver(database.db);
    expect(await states()).toEqual(['failed']);
    expect(await client.webhook(id)).toMatchObject({ active: false, reason: expect.stringContaining('410') as string }); // prettier-ignore
  });

  test('a test is sent once, to a webhook that is off as well, and counts against nothing', async () => {
    const client = api.client();
    const { id } = await client.createWebhook(hear(receiver.url, { active: false }));
    receiver.answer = json({}, 500);
    await client.testWebhook(id);
    await deliver(database.db);
    expect(bodies()).toMatchObject([{ type: 'webhook.test', job: null, seq: null }]);
    expect((await client.webhookDeliveries(id)).data).toMatchObject([{ type: 'webhook.test', state: 'failed', attempts: 1 }]); // prettier-ignore
    expect((await client.webhook(id)).failing_since).toBeNull();
  });
});

describe('many at once', () => {
  test('processes that send at once send nothing twice', async () => {
    await api.client().createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
    for (let made = 0; made < 40; made++) await jobOf(api, 'cancelled');
    const tries = await Promise.all([1, 2, 3, 4].map(() => deliver(database.db)));
    expect(tries.reduce((total, one) => total + one)).toBe(40);
    expect(new Set(bodies().map(({ id }) => id)).size).toBe(40);
    expect(receiver.received).toHaveLength(40);
  });

  test('what a process had claimed when it died is sent by another once its lease is over', async () => {
    await api.client().createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
    await jobOf(api, 'cancelled');
    const claim = { limit: 10, perWebhook: 4, busy: [], leaseMs: 30_000 };
    expect(await claimDeliveries(database.db, claim)).toHaveLength(1);
    expect(await deliver(database.db)).toBe(0);
    await makeDue(api);
    expect(await deliver(database.db)).toBe(1);
    expect(await allDeliveries(database.db)).toMatchObject([{ state: 'delivered', attempts: 2 }]);
  });

  test('a receiver that answers nothing holds up no other, and gets few at a time', async () => {
    const client = api.client();
    const waiting: (() => void)[] = [];
    const slow = createServer((_, response) => void waiting.push(() => response.end())).listen(
      0,
      '127.0.0.1',
    );
    await once(slow, 'listening');
    const { port } = slow.address() as AddressInfo;
    const { id } = await client.createWebhook(
      hear(`http://127.0.0.1:${port}/`, { events: ['job.cancelled'] }),
    );
    for (let made = 0; made < 20; made++) await jobOf(api, 'cancelled');
    await client.createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
    const done = deliver(database.db, { timeoutMs: 3_000 });
    await expect.poll(() => waiting.length, { timeout: 10_000 }).toBe(4);
    // While those four hang: what happens now is told the other receiver.
    for (let made = 0; made < 10; made++) await jobOf(api, 'cancelled');
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(10);
    slow.closeAllConnections();
    slow.close();
    await done;
    const left = (await client.webhookDeliveries(id, { state: 'pending', limit: 100 })).data;
    expect(left.filter(({ last_error }) => last_error !== null).length).toBe(30);
  });

  test('a turn that is told to stop begins nothing', async () => {
    await api.client().createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
    await jobOf(api, 'cancelled');
    expect(await deliverDue(sending(database.db), { signal: AbortSignal.abort() })).toBe(0);
    expect(await states()).toEqual(['pending']);
  });
});

test('deliveries are forgotten after their time, a bounded number at once', async () => {
  await api.client().createWebhook(hear(receiver.url, { events: ['job.cancelled'] }));
  for (let made = 0; made < 3; made++) await jobOf(api, 'cancelled');
  await database.sql`update webhook_deliveries set created_at = now() - interval '31 days'`;
  await jobOf(api, 'cancelled');
  const month = 30 * 86_400_000;
  expect(await forgetDeliveries(database.db, month, 2)).toBe(2);
  expect(await forgetDeliveries(database.db, month, 2)).toBe(1);
  expect(await forgetDeliveries(database.db, month, 2)).toBe(0);
  expect(await states()).toEqual(['pending']);
});

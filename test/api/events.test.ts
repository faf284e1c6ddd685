// Events as pages and as a stream that can be resumed: nothing missing, nothing twice, and an end after the last.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Entry, JobEvent } from '../../api/contract/event.ts';
import type { Fenced } from './support.ts';
import { claimOne, overHttp, registerDatasets, spec, useApi } from './support.ts';

// Polling alone would take an hour: what comes at once comes by a hint, unless a test says otherwise.
const api = useApi({ timing: { pollMs: 3_600_000, keepAliveMs: 3_600_000 } });
beforeAll(() => registerDatasets(api.client()));

const step = (n: number): Entry => ({
  type: 'step',
  stage: 'math',
  phase: 0,
  step: n,
  mode: 'non_thinking',
  metrics: { reward: n / 10 },
});

async function running(): Promise<{ id: string; fence: Fenced }> {
  const job = await api.client().createJob(spec({ priority: 1 }));
  const { fence } = await claimOne(api.client());
  return { id: job.id, fence };
}

let sequence = 0;
async function report(fence: Fenced, entries: Entry[]): Promise<void> {
  await api.client().runner.report({ ...fence, sequence: (sequence += 1), entries });
  api.hints.notify(fence.job);
}

const finish = async (fence: Fenced): Promise<void> => {
  await api.client().runner.finish({ ...fence, outcome: { type: 'succeeded' } });
  api.hints.notify(fence.job);
};

const stream = (id: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  api.request('GET', `/v1/jobs/${id}/events`, {
    headers: { accept: 'text/event-stream', ...headers },
    ...(signal && { signal }),
  });

describe('pages', () => {
  test('oldest first, after a sequence number', async () => {
    const { id, fence } = await running();
    await report(fence, [step(1), step(2)]);
    const client = api.client();
    const all = await client.eventsPage(id);
    expect(all.data.map((event) => event.seq)).toEqual(all.data.map((_, index) => index + 1));
    expect(all.data[0]?.body).toMatchObject({ type: 'state', from: null, to: 'queued' });
    const seen: number[] = [];
    for await (const event of client.all((query) => client.eventsPage(id, { ...query, limit: 2 })))
      seen.push(event.seq);
    expect(seen).toEqual(all.data.map((event) => event.seq));
    await finish(fence);
  });
});

describe('stream', () => {
  test('replays, follows, and ends after the terminal event', async () => {
    const { id, fence } = await running();
    const events: JobEvent[] = [];
    let next = 1;
    for await (const event of api.client().events(id)) {
      events.push(event);
      if (event.body.type === 'attempt_started' || (event.body.type === 'step' && next < 3))
        await report(fence, [step(next++)]);
      else if (event.body.type === 'step') await finish(fence);
    }
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)?.body).toMatchObject({ type: 'state', to: 'succeeded' });
    expect(api.hints.watched).toBe(0);
  });

  test('the wire form: id, event and data, resumed by Last-Event-ID', async () => {
    const { id, fence } = await running();
    await report(fence, [step(1)]);
    await finish(fence);
    const whole = await (await stream(id)).text();
    const ids = [...whole.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    const resumed = await stream(id, { 'last-event-id': '2' });
    expect(resumed.headers.get('content-type')).toBe('text/event-stream');
    expect([...(await resumed.text()).matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]))).toEqual(
      ids.slice(2),
    );
    const last = await stream(id, { 'last-event-id': String(ids.length) });
    expect(last.status).toBe(204);
    const query = await api.request('GET', `/v1/jobs/${id}/events?after=2`, {
      headers: { accept: 'text/event-stream' },
    });
    expect([...(await query.text()).matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]))).toEqual(
      ids.slice(2),
    );
  });

  test('a stranger’s or a malformed Last-Event-ID is refused, a number from the future waits for its turn', async () => {
    const { id, fence } = await running();
    expect((await stream(id, { 'last-event-id': 'x' })).status).toBe(400);
    expect((await api.request('GET', `/v1/jobs/${id}/events`, { key: api.strangerKey })).status).toBe(404);
    await finish(fence);
    expect((await stream(id, { 'last-event-id': '1000' })).status).toBe(204);
  });

  test.skipIf(overHttp)('a client that goes away ends the stream', async () => {
    const { id, fence } = await running();
    const response = await stream(id);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.read();
    expect(api.hints.watched).toBe(1);
    await reader.cancel();
    await expect.poll(() => api.hints.watched).toBe(0);
    await finish(fence);
  });

  test.skipIf(overHttp)('a service that stops ends the stream', async () => {
    const { id, fence } = await running();
    const reader = ((await stream(id)).body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    api.stopping.abort();
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read());
    expect(api.hints.watched).toBe(0);
    expect((await api.request('GET', '/readyz', { key: null })).status).toBe(503);
    await finish(fence);
  });
});

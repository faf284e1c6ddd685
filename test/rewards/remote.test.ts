// The remote grader against real servers that fail in every way: nothing of that is ever a score.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { GraderOf } from '../../api/contract/grader.ts';
import { grader as graderSchema } from '../../api/contract/grader.ts';
import { Outgoing } from '../../api/outgoing.ts';
import { remoteVerifier } from '../../runner/rewards/remote.ts';
import type { RemoteOptions } from '../../runner/rewards/remote.ts';
import { json, useHttpService } from './http-service.ts';

const service = useHttpService();
const outgoing = new Outgoing({ allowPrivate: true });
const row = { prompt: '1+1=', answer: '2' };

/** Pauses are noted, not waited for. */
function grader(fields: Partial<GraderOf<'remote'>> = {}, options: Partial<RemoteOptions> = {}) {
  const pauses: number[] = [];
  const parsed = graderSchema.parse({ type: 'remote', url: service.url, retries: 2, ...fields });
  const wait = async (ms: number): Promise<void> => void pauses.push(ms);
  const verifier = remoteVerifier(parsed as GraderOf<'remote'>, { outgoing, wait, ...options });
  return { pauses, verifier, grade: (response = 'two') => verifier.grade(row, response) };
}

const results = (...all: unknown[]) => json({ results: all });
const good = { status: 'scored', value: 0.5 };

test('the request as documented, and each kind of result', async () => {
  service.answer = results({ ...good, parts: { style: 0.25 }, detail: 'fine', more: 1 });
  expect(await grader().grade('<think>x</think>2')).toEqual({
    ...{ status: 'scored', value: 0.5, parts: { style: 0.25 }, detail: 'fine' },
  });
  expect(JSON.parse(service.received[0]!.body)).toEqual({
    version: 1,
    items: [{ task: row, response: '<think>x</think>2' }],
  });
  service.answer = results({ status: 'invalid', code: 'timeout', value: -1 });
  expect(await grader().grade()).toEqual({ status: 'invalid', code: 'timeout', value: -1 });
  service.answer = results({ status: 'invalid' });
  expect(await grader().grade()).toEqual({ status: 'invalid', code: 'unparsable', value: 0 });
  service.answer = results({ status: 'unscored', code: 'whatever', detail: 'GPU gone' });
  expect(await grader().grade()).toEqual({ status: 'unscored', code: 'unreachable', detail: 'GPU gone' });
});

test('the signature verifies, a retry keeps its id, and other secrets or bodies do not verify', async () => {
  service.answer = (received, response, count) =>
    count === 1 ? void response.writeHead(503).end() : results(good)(received, response, count);
  const bytes = Buffer.from('0123456789abcdef0123456789abcdef');
  for (const [secret, key] of [
    ['plain secret', Buffer.from('plain secret')],
    [`whsec_${bytes.toString('base64')}`, bytes],
  ] as const) {
    service.received.length = 0;
    expect(await grader({}, { secret }).grade()).toMatchObject({ status: 'scored' });
    const ids = service.received.map(({ headers, body }) => {
      const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = headers;
      const sign = (text: string): string =>
        `v1,${createHmac('sha256', key)
          .update(`${String(id)}.${String(at)}.${text}`)
          .digest('base64')}`;
      expect(signature).toBe(sign(body));
      expect(signature).not.toBe(sign(`${body} `));
      expect(Math.abs(Number(at) - Date.now() / 1_000)).toBeLessThan(60);
      return id;
    });
    expect(new Set(ids).size).toBe(1);
    expect(ids).toHaveLength(2);
  }
});

test('without a secret nothing is signed', async () => {
  service.answer = results(good);
  await grader().grade();
  expect(service.received[0]!.headers).not.toHaveProperty('webhook-signature');
});

test.each([
  ['503 thrice', 503],
  ['429 thrice', 429],
  ['500 thrice', 500],
])('%s: unscored after all tries', async (_, status) => {
  service.answer = json({ error: 'busy' }, status);
  const { grade, pauses } = grader();
  expect(await grade()).toEqual({
    status: 'unscored',
    code: 'unreachable',
    detail: expect.stringMatching(`answered ${status}: .*busy.*the last of 3 tries`) as string,
  });
  expect(pauses).toEqual([500, 1_000]);
});

test('Retry-After is kept to, and a minute is the most', async () => {
  service.answer = (received, response, count) =>
    count < 3
      ? json({}, 429, { 'retry-after': count === 1 ? '7' : '86400' })(received, response, count)
      : results(good)(received, response, count);
  const { grade, pauses } = grader();
  expect(await grade()).toMatchObject({ status: 'scored' });
  expect(pauses).toEqual([7_000, 60_000]);
});

test('a connection that breaks is tried again', async () => {
  service.answer = (received, response, count) =>
    count < 3 ? void response.destroy() : results(good)(received, response, count);
  expect(await grader().grade()).toMatchObject({ status: 'scored', value: 0.5 });
  expect(service.received).toHaveLength(3);
});

test('nobody there, and one that never answers', async () => {
  expect(await grader({ url: 'http://127.0.0.1:1/' }).grade()).toMatchObject({
    status: 'unscored',
    detail: expect.stringMatching(/ECONNREFUSED.*3 tries/) as string,
  });
  service.answer = () => undefined;
  expect(await grader({ timeout: '1s', retries: 0 }).grade()).toMatchObject({
    status: 'unscored',
    detail: expect.stringContaining('no answer within 1000 ms') as string,
  });
});

test.each([
  ['400', json({ error: 'what?' }, 400), /answered 400: .*what/],
  ['401', json({}, 401), /answered 401/],
  [
    'a redirect',
    json({}, 307, { location: 'https://example.com/' }),
    /answered 307: redirects are not followed/,
  ],
])('%s is not tried again', async (_, answer, detail) => {
  service.answer = answer;
  expect(await grader().grade()).toMatchObject({
    ...{ status: 'unscored', code: 'unreachable', detail: expect.stringMatching(detail) as string },
  });
  expect(service.received).toHaveLength(1);
});

const text =
  (body: string) =>
  (_: unknown, response: { end(body: string): unknown }): void =>
    void response.end(body);

test.each([
  ['no JSON', text('<html>'), /is not \{"results"/],
  ['half a JSON', text('{"results": [{'), /is not \{"results"/],
  ['nothing', text(''), /is not \{"results"/],
  ['another shape', json([good]), /is not \{"results"/],
  ['no result', results(), /gave 0 results for 1 items/],
  ['too many results', results(good, good), /gave 2 results for 1 items/],
  ['no value', results({ status: 'scored' }), /malformed/],
  ['a value in words', results({ status: 'scored', value: '1' }), /malformed/],
  ['an infinite value', text('{"results":[{"status":"scored","value":1e999}]}'), /malformed/],
  ['a null value', results({ status: 'scored', value: null }), /malformed/],
  ['an infinite part', text('{"results":[{"status":"scored","value":1,"parts":{"a":1e999}}]}'), /malformed/],
  [
    'parts without end',
    results({ ...good, parts: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`part${at}`, 1])) }),
    /at most 64 parts/,
  ],
  ['a part of a long name', results({ ...good, parts: { ['n'.repeat(101)]: 1 } }), /malformed/],
  ['an unknown status', results({ status: 'right', value: 1 }), /malformed/],
  ['an unknown code', results({ status: 'invalid', code: 'mood' }), /malformed/],
  ['more than the maximum', results({ status: 'scored', value: 1.5 }), /above the grader's max_score 1/],
  ['a huge answer', text(`{"results":["${'x'.repeat(300_000)}"]}`), /longer than 262144 bytes/],
])('a malformed answer is unscored, never 0: %s', async (_, answer, detail) => {
  service.answer = answer;
  expect(await grader().grade()).toEqual({
    ...{ status: 'unscored', code: 'unreachable', detail: expect.stringMatching(detail) as string },
  });
});

test('items of one turn go together, in order, and one malformed result spoils no other', async () => {
  service.answer = (received, response, count) => {
    const { items } = JSON.parse(received.body) as { items: { response: string }[] };
    const all = items.map(({ response: said }) =>
      said === 'bad' ? { status: 'scored' } : { status: 'scored', value: Number(said) / 10 },
    );
    void results(...all)(received, response, count);
  };
  const { grade } = grader({ batch: 3 });
  const rewards = await Promise.all(['1', '2', 'bad', '4', '5'].map(grade));
  expect(rewards.map((reward) => ('value' in reward ? reward.value : reward.status))).toEqual([
    ...[0.1, 0.2, 'unscored', 0.4, 0.5],
  ]);
  const sizes = service.received.map(({ body }) => (JSON.parse(body) as { items: unknown[] }).items.length);
  expect(sizes.sort()).toEqual([2, 3]);
});

test('16 requests are on their way at once, and no more', async () => {
  const held: (() => void)[] = [];
  let most = 0;
  service.answer = (...all) => {
    most = Math.max(
      most,
      held.push(() => void results(good)(...all)),
    );
    // A seventeenth would come while these are held.
    if (held.length === 16) setTimeout(() => held.splice(0).forEach((answer) => answer()), 20);
  };
  const { grade } = grader();
  await Promise.all(Array.from({ length: 48 }, () => grade()));
  expect(most).toBe(16);
});

test('an outage costs a thousand answers what it costs one: what waits is not sent, and the next turn asks anew', async () => {
  service.answer = json({}, 503);
  const { grade } = grader();
  const rewards = await Promise.all(Array.from({ length: 1_000 }, () => grade()));
  expect(new Set(rewards.map(({ status }) => status))).toEqual(new Set(['unscored']));
  expect(service.received.length).toBeLessThan(3 * 32);
  service.answer = results(good);
  expect(await grade()).toMatchObject({ status: 'scored' });
});

test('one item that is refused takes no other along', async () => {
  service.answer = (received, response, count) =>
    void (received.body.includes('odd') ? json({}, 400) : results(good))(received, response, count);
  const { grade } = grader();
  const rewards = await Promise.all(Array.from({ length: 50 }, (_, i) => grade(i === 3 ? 'odd' : 'two')));
  expect(rewards.flatMap(({ status }, at) => (status === 'scored' ? [] : [at]))).toEqual([3]);
});

test('the secret is in no detail, even where the service quotes it', async () => {
  const secret = 'sk-0123456789';
  service.answer = json({ error: `the key ${secret} is unknown` }, 403);
  const reward = await grader({ url: `${service.url}/?key=in-the-query` }, { secret }).grade();
  expect(reward).toMatchObject({ status: 'unscored', detail: expect.stringContaining('[secret]') as string });
  expect(JSON.stringify(reward)).not.toMatch(/sk-0123456789|in-the-query/);
});

test('a refused address is said, and not called', async () => {
  const closed = new Outgoing({ allowPrivate: false });
  expect(await grader({}, { outgoing: closed }).grade()).toMatchObject({
    ...{ status: 'unscored', detail: expect.stringContaining('MILLRACE_ALLOW_PRIVATE_ADDRESSES') as string },
  });
  expect(service.received).toEqual([]);
});

test('what proves a row: its reference, unless the grader has no maximum', () => {
  const { verifier } = grader({ max_score: 10 });
  expect([verifier.maxScore(row), verifier.goldResponse(row)]).toEqual([10, '2']);
  const open = grader({ max_score: null }).verifier;
  expect([open.maxScore(row), open.goldResponse(row)]).toEqual([Infinity, undefined]);
  expect(verifier.goldResponse({ prompt: 'p', chosen: 'c', rejected: 'r' })).toBe('c');
  expect(verifier.goldResponse({ prompt: 'p', tests: 't', solution: 's' })).toBe('s');
  expect(verifier.goldResponse({ prompt: 'p', patch: 'd' })).toBeUndefined();
});

test('the example of the documentation is what is sent, and its signature verifies', async () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/graders/remote.md'), 'utf8');
  const [, id, at, signature, body] =
    /webhook-id: (\S+)\nwebhook-timestamp: (\S+)\nwebhook-signature: (\S+)\n\n(.*)\n/.exec(page)!;
  const secret = /the secret `([^`]+)`/.exec(page)![1]!;
  const expected = createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64');
  expect(signature).toBe(`v1,${expected}`);
  service.answer = results(good);
  await grader().grade('<think>easy</think>\n\n2');
  expect(service.received[0]!.body).toBe(body);
});

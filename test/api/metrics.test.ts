// What Prometheus reads: the format, parsed as its specification says, and the values after real events.
import { beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../api/app.ts';
import { gaugeReader } from '../../api/metrics/gauges.ts';
import { createMetrics } from '../../api/metrics/metrics.ts';
import { Registry } from '../../api/metrics/registry.ts';
import { tick } from '../../api/tick.ts';
import { defaultTiming } from '../../api/limits.ts';
import { connect } from '../../db/connect.ts';
import { backdate } from '../db/support.ts';
import { pino } from 'pino';
import { claimOne, registerDatasets, spec, url, useApi } from './support.ts';
import { createClient } from '../../api/client.ts';

const api = useApi();
const token = 'a-token-for-metrics-1';
const log = pino({ enabled: false });
beforeAll(() => registerDatasets(api.client()));

interface Parsed {
  readonly types: Map<string, string>;
  readonly samples: Map<string, number>;
}

/** Text format 0.0.4: each family's HELP and TYPE once, before its samples, names and labels as the grammar has them. */
function parse(text: string): Parsed {
  const types = new Map<string, string>();
  const samples = new Map<string, number>();
  expect(text.endsWith('\n')).toBe(true);
  let family = '';
  for (const line of text.trimEnd().split('\n')) {
    const head = /^# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.+)$/.exec(line);
    if (head !== null) {
      family = head[2]!;
      if (head[1] === 'TYPE') {
        expect(types.has(family), family).toBe(false);
        types.set(family, head[3]!);
      }
      continue;
    }
    const sample = /^([a-z_:][a-z0-9_:]*)(\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (\S+)$/.exec(line);
    expect(sample, line).not.toBeNull();
    expect(sample![1]!.startsWith(family), line).toBe(true);
    expect(Number.isFinite(Number(sample![3])), line).toBe(true);
    expect(samples.has(sample![1]! + (sample![2] ?? '')), line).toBe(false);
    samples.set(sample![1]! + (sample![2] ?? ''), Number(sample![3]));
  }
  return { types, samples };
}

/** An app of its own, so that nothing else has been counted. */
function own(now: () => Date = () => new Date()) {
  const metrics = createMetrics();
  const app = createApp({ db: api.database.db, store: api.store, metrics, metricsToken: token, now });
  const scrape = async (): Promise<Parsed> => {
    const answer = await app.request('/metrics', { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    return parse(await answer.text());
  };
  const client = createClient({
    url,
    key: api.keys.admin,
    pauseMs: 1,
    fetch: (input, init) => Promise.resolve(app.request(input as string, init)),
  });
  return { app, metrics, scrape, client };
}

describe('who may read', () => {
  test('nobody where no token is set, not even an admin; with one, who has it', async () => {
    expect((await api.request('GET', '/metrics')).status).toBe(403);
    const { app } = own();
    for (const authorization of [undefined, `Bearer ${api.keys.admin}`, `Bearer ${token}2`, token])
      expect(
        (await app.request('/metrics', authorization ? { headers: { authorization } } : {})).status,
      ).toBe(401);
  });
});

test('after a job: depth, ages, outcomes, steps, requests, and no id anywhere', async () => {
  let at = Date.now();
  const { scrape, client, metrics } = own(() => new Date(at));
  const { id } = await client.createJob(spec());
  const queued = await scrape();
  expect(queued.samples.get('millrace_database_up')).toBe(1);
  expect(queued.samples.get('millrace_jobs{state="queued",accelerator="cpu"}')).toBe(1);
  expect(
    queued.samples.get('millrace_jobs_oldest_seconds{state="queued",accelerator="cpu"}'),
  ).toBeGreaterThanOrEqual(0);

  const { fence } = await claimOne(client);
  const step = { type: 'step' as const, stage: 'math', phase: 0, step: 1 };
  await client.runner.report({
    ...fence,
    sequence: 1,
    entries: [
      { ...step, metrics: { time_sample: 0.2, time_train: 3, reward: 1 } },
      {
        type: 'reward_waiting',
        stage: 'math',
        step: 2,
        suite: null,
        unscored: 1,
        of: 2,
        code: 'down',
        detail: null,
      },
    ],
  });
  expect((await scrape()).samples.get('millrace_jobs{state="queued",accelerator="cpu"}')).toBe(1); // kept for some seconds
  at += 5_000;
  const waiting = await scrape();
  expect(waiting.samples.get('millrace_jobs{state="running",accelerator="cpu"}')).toBe(1);
  expect(waiting.samples.get('millrace_jobs{state="queued",accelerator="cpu"}')).toBeUndefined();
  expect(waiting.samples.get('millrace_jobs_waiting_for_rewards{accelerator="cpu"}')).toBe(1);
  expect(waiting.samples.get('millrace_runners_alive{accelerator="cpu"}')).toBe(1);
  expect(waiting.samples.get('millrace_step_duration_seconds_bucket{part="sample",le="0.1"}')).toBe(0);
  expect(waiting.samples.get('millrace_step_duration_seconds_bucket{part="sample",le="0.25"}')).toBe(1);
  expect(waiting.samples.get('millrace_step_duration_seconds_bucket{part="train",le="+Inf"}')).toBe(1);
  expect(waiting.samples.get('millrace_step_duration_seconds_sum{part="train"}')).toBe(3);
  expect(waiting.samples.get('millrace_reward_outages_total')).toBe(1);

  await client.runner.report({ ...fence, sequence: 2, entries: [{ ...step, step: 2, metrics: {} }] });
  await backdate(api.database.db, id);
  await tick(api.database.db, log, metrics);
  await expect(client.runner.heartbeat({ ...fence })).rejects.toThrow(/no longer holds/);
  await api.database
    .sql`update jobs set available_at = now() - interval '90 seconds', created_at = now() - interval '1 day' where id = ${id}`;
  at += 5_000;
  const lost = await scrape();
  expect(lost.samples.get('millrace_attempts_ended_total{outcome="failed",reason="lease_expired"}')).toBe(1);
  expect(lost.samples.get('millrace_problems_total{code="lease_lost"}')).toBe(1);
  expect(lost.samples.get('millrace_jobs_waiting_for_rewards{accelerator="cpu"}')).toBeUndefined();
  const age = lost.samples.get('millrace_jobs_oldest_seconds{state="queued",accelerator="cpu"}')!;
  expect(age).toBeGreaterThanOrEqual(90);
  expect(age).toBeLessThan(150);

  const again = await claimOne(client);
  await client.runner.finish({ ...again.fence, outcome: { type: 'succeeded' } });
  await client.job(id);
  at += 5_000;
  const done = await scrape();
  expect(done.samples.get('millrace_attempts_ended_total{outcome="succeeded",reason=""}')).toBe(1);
  expect([...done.samples.keys()].filter((name) => name.startsWith('millrace_jobs{'))).toEqual([]);
  const labels = 'route="/v1/jobs/:id",method="GET",status="200"';
  expect(done.samples.get(`millrace_http_request_duration_seconds_count{${labels}}`)).toBe(1);
  expect([...done.samples.keys()].join('\n')).not.toMatch(/job_|run_|proj_|small/);
  expect(done.types.get('millrace_http_request_duration_seconds')).toBe('histogram');
});

test('what strangers ask for makes no series of its own', async () => {
  const { app, scrape } = own();
  for (const path of ['/nothing', '/v1/x', '/v1/x/y', '/%00'])
    await app.request(path, { headers: { authorization: `Bearer ${api.keys.admin}` } });
  await app.request('/healthz', { method: 'PROPFIND' });
  const routes = [...(await scrape()).samples.keys()].flatMap(
    (name) => /_count\{route="([^"]*)"/.exec(name)?.[1] ?? [],
  );
  expect(new Set(routes)).toEqual(new Set(['none']));
});

test('streams are counted while they are open', async () => {
  const { app, client, scrape } = own();
  const { id } = await client.createJob(spec());
  const headers = { authorization: `Bearer ${api.keys.admin}`, accept: 'text/event-stream' };
  const stream = await app.request(`/v1/jobs/${id}/events`, { headers });
  expect((await scrape()).samples.get('millrace_event_streams')).toBe(1);
  await stream.body!.cancel();
  expect((await scrape()).samples.get('millrace_event_streams')).toBe(0);
  await client.cancelJob(id);
});

test('many who scrape at once ask the database once', async () => {
  let asked = 0;
  const { db } = api.database;
  const counting = new Proxy(db, {
    get: (of, key) => {
      if (key === 'transaction') asked += 1;
      return Reflect.get(of, key) as unknown;
    },
  });
  const read = gaugeReader({ db: counting, timing: defaultTiming, now: () => new Date(0) });
  await Promise.all(Array.from({ length: 50 }, read));
  expect(asked).toBe(1);
});

test('with the database away the rest is told, and that it is', async () => {
  const away = connect('postgres://nobody:nothing@127.0.0.1:1/none', 1);
  const app = createApp({ db: away.db, store: api.store, metricsToken: token });
  const answer = await app.request('/metrics', { headers: { authorization: `Bearer ${token}` } });
  const { samples } = parse(await answer.text());
  expect(samples.get('millrace_database_up')).toBe(0);
  expect(samples.get('millrace_event_streams')).toBe(0);
  await away.close();
});

test('labels and help are escaped', () => {
  const registry = new Registry();
  registry.counter('a_total', 'one\ntwo \\').add({ code: 'a"b\\c\nd' }, 2);
  const text = registry.text();
  expect(text).toBe(
    '# HELP a_total one\\ntwo \\\\\n# TYPE a_total counter\na_total{code="a\\"b\\\\c\\nd"} 2\n',
  );
  expect(parse(text).samples.size).toBe(1);
});

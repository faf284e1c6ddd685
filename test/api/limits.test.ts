// Limits as a client meets them: requests of a key, refusals of an address, open streams of a key, and a body on every route
// that takes one.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { documentedPath } from '../../api/openapi.ts';
import { createKey } from '../../db/keys.ts';
import { openAi } from './openai/support.ts';
import { makeOwner } from './owner.ts';
import { registerDatasets, spec, useApi } from './support.ts';

const clock = { ms: Date.now() };
let address: string | undefined;
const api = useApi({
  limits: {
    requestsPerMinute: 60,
    requestBurst: 5,
    refusalsPerMinute: 4,
    streamsPerKey: 2,
  },
  timing: { pollMs: 5, keepAliveMs: 20 },
  now: () => new Date(clock.ms),
  addressOf: () => address,
});
const bodies = useApi({ limits: { jsonBytes: 5_000, gradeBytes: 5_000, datasetBytes: 5_000 } });

beforeEach(() => {
  // Every bucket is full again.
  clock.ms += 3_600_000;
  address = undefined;
});

const ask = (key: string | null = api.keys.read, path = '/v1/jobs') => api.request('GET', path, { key });
/** Of a problem, or of an error in OpenAI's form. */
const codeOf = async (response: Response): Promise<string> =>
  `${response.status} ${/"code":"(\w+)"/.exec(await response.text())?.[1]}`;
const statuses = async (times: number, ...of: Parameters<typeof ask>): Promise<number[]> => {
  const all: number[] = [];
  for (let i = 0; i < times; i++) all.push((await ask(...of)).status);
  return all;
};

describe('requests of a key', () => {
  test('beyond the burst are told how long to wait, and are let through when they have', async () => {
    expect(await statuses(5)).toEqual([200, 200, 200, 200, 200]);
    const response = await ask();
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('ratelimit')).toBe('"requests";r=0;t=5');
    expect(response.headers.get('ratelimit-policy')).toBe('"requests";q=5;w=5');
    expect(await codeOf(response)).toBe('429 rate_limited');
    clock.ms += 1_000;
    expect(await statuses(2)).toEqual([200, 429]);
  });

  test('know where they stand by every answer, also by one that refuses', async () => {
    expect((await ask()).headers.get('ratelimit')).toBe('"requests";r=4;t=1');
    const refused = await api.request('GET', '/v1/jobs/x', { key: api.keys.read });
    expect([refused.status, refused.headers.get('ratelimit')]).toEqual([404, '"requests";r=3;t=2']);
  });

  test('are counted for each key alone', async () => {
    expect((await statuses(6)).at(-1)).toBe(429);
    expect(await statuses(1, api.keys.submit)).toEqual([200]);
  });

  test('do nothing when they are refused', async () => {
    await statuses(5, api.keys.admin);
    const { sql } = api.database;
    const before = await sql`select count(*) from audit_rows`;
    const response = await api.request('POST', '/v1/datasets?name=fast&kind=math', { body: '{}' });
    expect(response.status).toBe(429);
    expect(await sql`select count(*) from audit_rows`).toEqual(before);
  });

  test('of the runner protocol are not counted, but for keys that may not speak it', async () => {
    const knock = async (key: string) => {
      const all = new Set<number>();
      for (let i = 0; i < 12; i++)
        all.add((await api.request('POST', '/v1/runner/claim', { key, json: { runner: 'x' } })).status);
      return [...all];
    };
    expect(await knock(api.keys.runner)).toEqual([422]);
    expect(await knock(api.keys.shared_runner)).toEqual([422]);
    expect(await knock(api.keys.read)).toEqual([403, 429]);
  });
});

describe('refusals of an address', () => {
  const wrong = (): string => `mr_${crypto.randomUUID().replaceAll('-', '')}00000000`;
  const guess = async (times: number): Promise<number[]> => {
    const all: number[] = [];
    for (let i = 0; i < times; i++) all.push((await ask(wrong())).status);
    return all;
  };

  test('are answered 429 once there are too many, without a look at the database', async () => {
    address = '203.0.113.1';
    expect(await guess(6)).toEqual([401, 401, 401, 401, 429, 429]);
    const response = await ask(null);
    expect(Number(response.headers.get('retry-after'))).toBe(15);
    expect(await codeOf(response)).toBe('429 rate_limited');
    // A key that nobody has used here yet is not looked up: a guesser learns nothing by a hit.
    const { db } = api.database;
    const projectId = (await db.query.projects.findFirst())!.id;
    const { secret } = await createKey(db, { projectId, name: 'new', scopes: ['read'] });
    expect((await ask(secret)).status).toBe(429);
    clock.ms += 15_000;
    expect((await ask(secret)).status).toBe(200);
  });

  test('lock nobody out who was let in before, nor other addresses', async () => {
    address = '203.0.113.2';
    expect((await ask()).status).toBe(200);
    expect((await guess(5)).at(-1)).toBe(429);
    expect((await ask()).status).toBe(200);
    address = '203.0.113.3';
    expect(await guess(1)).toEqual([401]);
  });

  test('count a revoked key as any other, from its second request on', async () => {
    address = '203.0.113.4';
    const made = await api.client().createKey({ name: 'x', scopes: ['read'] });
    expect((await ask(made.secret)).status).toBe(200);
    await api.client().revokeKey(made.id);
    expect(await statuses(6, made.secret)).toEqual([401, 401, 401, 401, 429, 429]);
  });

  test('count whoever has one IPv6 network as one', async () => {
    const all: number[] = [];
    for (let i = 0; i < 6; i++) {
      address = `2001:db8:0:1::${i}`;
      all.push(...(await guess(1)));
    }
    expect(all.at(-1)).toBe(429);
  });
});

describe('event streams of a key', () => {
  const follow = (job: string, key = api.keys.read) =>
    api.request('GET', `/v1/jobs/${job}/events`, { key, headers: { accept: 'text/event-stream' } });

  test('beyond its share are refused until one ends, however it ends', async () => {
    await registerDatasets(api.client());
    const { id } = await api.client().createJob(spec());
    const [first, second] = [await follow(id), await follow(id)];
    const third = await follow(id);
    expect(third.headers.get('retry-after')).toBe('5');
    expect(await codeOf(third)).toBe('429 rate_limited');
    expect((await follow(id, api.keys.submit)).status).toBe(200);
    clock.ms += 60_000;
    // Pages are no streams.
    expect((await ask(api.keys.read, `/v1/jobs/${id}/events`)).status).toBe(200);
    // One is left by its reader, before it has read anything.
    await first.body!.cancel();
    const fourth = await follow(id);
    expect(fourth.status).toBe(200);
    // The others end with the job.
    await api.client().cancelJob(id);
    expect(await second.text()).toContain('"to":"cancelled"');
    expect(await fourth.text()).toContain('"to":"cancelled"');
    clock.ms += 60_000;
    expect((await Promise.all([follow(id), follow(id)])).map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('a body', () => {
  interface Document {
    paths: Record<string, Record<string, { requestBody?: unknown }>>;
  }
  let taking: string[];
  let key: string;
  beforeAll(async () => {
    const text = await (await bodies.request('GET', '/openapi.json', { key: null })).text();
    taking = Object.entries((JSON.parse(text) as Document).paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, route]) => route.requestBody !== undefined)
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    );
    const { db } = bodies.database;
    const projectId = (await db.query.projects.findFirst())!.id;
    key = (await createKey(db, { projectId, name: 'all', scopes: ['operator', 'admin'] })).secret;
  });

  test('that is too large is refused by every route that takes one', async () => {
    const upload = await (await makeOwner(bodies.client(), openAi(bodies), 'mark')).upload();
    const ids: Record<string, string> = {
      '/v1/datasets': '/v1/datasets?name=large&kind=math',
      '/v1/model-uploads/{id}/files/{name}': `/v1/model-uploads/${upload}/files/config.json`,
    };
    const mediaOf: Record<string, string> = { '/v1/files': 'multipart/form-data; boundary=x' };
    const text = `{"x":"${'a'.repeat(2 << 20)}"}`;
    const head = 'content-disposition: form-data; name="file"; filename="a.jsonl"';
    const bodyOf: Record<string, string> = { '/v1/files': `--x\r\n${head}\r\n\r\n${text}\r\n--x--\r\n` };
    for (const route of taking) {
      const [method, path] = route.split(' ') as [string, string];
      const large = new TextEncoder().encode(bodyOf[path] ?? text);
      // In pieces, so that no content-length announces it.
      const pieces = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < large.length; at += 100_000)
            controller.enqueue(large.slice(at, at + 100_000));
          controller.close();
        },
      });
      const response = await bodies.request(method, ids[path] ?? path.replaceAll(/\{\w+\}/g, upload), {
        body: pieces,
        headers: { 'content-type': mediaOf[path] ?? 'application/json' },
        key,
        ...{ duplex: 'half' },
      });
      expect(`${route}: ${await codeOf(response)}`).toBe(`${route}: 413 too_large`);
    }
    expect(taking.length).toBeGreaterThan(20);
  });

  test('is read by no route that does not say so', async () => {
    const changing = bodies.app.routes.filter(({ method }) => method !== 'ALL' && method !== 'GET');
    const others = new Set(
      changing
        .map(({ method, path }) => `${method} ${documentedPath(path)}`)
        .filter((route) => !taking.includes(route)),
    );
    for (const route of others) {
      const [method, path] = route.split(' ') as [string, string];
      let pulled = 0;
      const body = new ReadableStream<Uint8Array>({ pull: () => void (pulled += 1) }, { highWaterMark: 0 });
      const place = path.replaceAll(/\{\w+\}/g, 'job_00000000000000000000000000');
      await bodies.request(method, place, { body, key, ...{ duplex: 'half' } });
      expect(`${route}: ${pulled}`).toBe(`${route}: 0`);
    }
    expect([...others].sort()).toEqual([
      'DELETE /v1/checkpoints/{id}',
      'DELETE /v1/checkpoints/{id}/pin',
      'DELETE /v1/datasets/{id}',
      'DELETE /v1/files/{id}',
      'DELETE /v1/jobs/{id}',
      'DELETE /v1/keys/{id}',
      'DELETE /v1/webhooks/{id}',
      'POST /v1/checkpoints/{id}/pin',
      'POST /v1/fine_tuning/jobs/{id}/cancel',
      'POST /v1/fine_tuning/jobs/{id}/pause',
      'POST /v1/fine_tuning/jobs/{id}/resume',
      'POST /v1/jobs/{id}/cancel',
      'POST /v1/jobs/{id}/pause',
      'POST /v1/jobs/{id}/resume',
      'POST /v1/jobs/{id}/retry',
      'POST /v1/webhooks/{id}/deliveries/{delivery}/replay',
      'POST /v1/webhooks/{id}/rotate-secret',
      'POST /v1/webhooks/{id}/test',
    ]);
  });
});

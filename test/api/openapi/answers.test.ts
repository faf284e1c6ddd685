// Real answers against the document: every GET route of a service with something in each of its tables, each answer of a status
// and of a form that the route declares, without a field that nobody declared.
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, describe, expect, test } from 'vitest';
import { useApi } from '../support.ts';
import { fillService } from './filled.ts';
import type { Ids } from './filled.ts';
import type { OpenApi, PlacedOperation } from './document.ts';
import { operationsOf, strictly } from './document.ts';

const api = useApi();
let document: OpenApi;
let ajv: Ajv2020;
let ids: Ids;

beforeAll(async () => {
  document = (await (await api.request('GET', '/openapi.json', { key: null })).json()) as OpenApi;
  ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema(strictly(document), 'api');
  ids = await fillService(api);
}, 120_000);

const escaped = (part: string): string =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

function checkOf(
  { method, path, operation }: PlacedOperation,
  status: number,
  media: string,
): ValidateFunction | undefined {
  if (operation.responses[String(status)]?.content?.[media] === undefined) return undefined;
  const at = ['paths', path, method, 'responses', String(status), 'content', media, 'schema'];
  return ajv.getSchema(`api#/${at.map(escaped).join('/')}`);
}

/** @throws Error where the document does not know the answer. */
async function expectDeclared(placed: PlacedOperation, response: Response): Promise<unknown> {
  const { method, path, operation } = placed;
  const declared = operation.responses[String(response.status)];
  const where = `${response.status} of ${method} ${path}`;
  expect(declared, `${where} is not declared`).toBeDefined();
  const media = (response.headers.get('content-type') ?? '').split(';')[0]!;
  if (declared?.content === undefined) return undefined;
  expect(Object.keys(declared.content), where).toContain(media);
  if (!media.endsWith('json')) return response.text();
  const body: unknown = await response.json();
  const check = checkOf(placed, response.status, media)!;
  check(body);
  expect({ where, errors: check.errors }).toEqual({ where, errors: null });
  return body;
}

/** Paths with the ids of things that there are. */
const pathOf = (path: string): string => {
  const [, collection] = path.split('/').slice(1);
  const key = path.startsWith('/v1/fine_tuning') ? 'fine_tuning' : (collection ?? '');
  return path
    .replace('{id}', (ids.of as Record<string, string>)[key] ?? 'none')
    .replace('{name}', 'manifest.json')
    .replace('{model}', ids.of.models);
};

/** Projects are the operator's. */
const keyFor = (path: string): string => api.keys[path.startsWith('/v1/projects') ? 'operator' : 'admin'];

describe('what GET routes answer', () => {
  test('is what they declare, about things that there are', async () => {
    // The token that opens the metrics is no key (metrics.test.ts).
    const routes = operationsOf(document).filter(
      ({ method, path }) => method === 'get' && path !== '/metrics',
    );
    const lists: Record<string, number> = {};
    for (const placed of routes) {
      const response = await api.request('GET', pathOf(placed.path), { key: keyFor(placed.path) });
      expect([placed.path, response.status]).toEqual([
        placed.path,
        expect.toSatisfy((status: number) => status < 400),
      ]);
      const body = (await expectDeclared(placed, response)) as { data?: unknown[] } | undefined;
      if (Array.isArray(body?.data)) lists[placed.path] = body.data.length;
    }
    expect(routes.length).toBeGreaterThan(25);
    // An empty list conforms to anything.
    expect(Object.entries(lists).filter(([, length]) => length === 0)).toEqual([]);
  });

  test('is what they declare of every job, dataset and errand', async () => {
    const byPath = new Map(
      operationsOf(document).map((placed) => [`${placed.method} ${placed.path}`, placed]),
    );
    for (const [collection, all] of Object.entries(ids.all))
      for (const id of all)
        await expectDeclared(
          byPath.get(`get /v1/${collection}/{id}`)!,
          await api.request('GET', `/v1/${collection}/${id}`),
        );
  });

  test('is what they declare about what there is not, without a key, with a key that may not', async () => {
    for (const placed of operationsOf(document)) {
      const { method, path, operation } = placed;
      if (!path.startsWith('/v1/')) continue;
      const nowhere = path.replace('{id}', 'job_00000000000000000000000000').replaceAll(/\{\w+\}/g, 'none');
      const send = (init: object) => api.request(method.toUpperCase(), nowhere, init);
      expect((await expectStatus(placed, await send({ key: null }))).status).toBe(401);
      // Every route bars one of the two.
      const barred = [await send({ key: api.keys.runner }), await send({ key: api.keys.read })];
      expect(barred.map(({ status }) => status)).toContain(403);
      if (path.includes('{') && operation.requestBody === undefined)
        expect((await expectStatus(placed, await send({ key: keyFor(path) }))).status).toBe(404);
      expect(
        (await expectStatus(placed, await api.request(method.toUpperCase(), `${nowhere}?a=%00`))).status,
      ).toBe(400);
    }
  });

  test('a page of events is declared as a stream too', async () => {
    const placed = operationsOf(document).find(({ operation }) => operation.operationId === 'listJobEvents')!;
    const headers = { accept: 'text/event-stream', 'last-event-id': '0' };
    const stream = await api.request('GET', `/v1/jobs/${ids.ended}/events`, { headers });
    const text = (await expectDeclared(placed, stream)) as string;
    const check = ajv.getSchema('api#/components/schemas/JobEvent')!;
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as unknown);
    expect(events.length).toBeGreaterThan(1);
    for (const event of events) expect([check(event), check.errors]).toEqual([true, null]);
  });
});

async function expectStatus(placed: PlacedOperation, response: Response): Promise<Response> {
  await expectDeclared(placed, response.clone());
  return response;
}

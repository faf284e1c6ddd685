// The OpenAPI document: valid by the official schema of OpenAPI 3.1, complete, and fit for programs that are made from it.
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { presets } from '../../api/contract/presets/presets.ts';
import { jobSpec } from '../../api/contract/spec.ts';
import { spec, useApi } from './support.ts';
import type { OpenApi, Schema } from './openapi/document.ts';
import { operationsOf, schemasOf, strictly } from './openapi/document.ts';

const api = useApi();
let document: OpenApi;
beforeAll(async () => {
  document = (await (await api.request('GET', '/openapi.json', { key: null })).json()) as OpenApi;
});

/** The same route once more, for names with slashes, which a path parameter of OpenAPI cannot say. */
const aliases = ['get /v1/checkpoints/{id}/files/{name{.+}}'];

describe('the document', () => {
  test('is valid by the official schema of OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.0');
    expect(await new Validator().validate(structuredClone({ ...document }))).toEqual({ valid: true });
  });

  test('is refused by that schema where it is damaged: the check checks', async () => {
    const damaged = structuredClone(document) as unknown as { paths: Record<string, { get: object }> };
    damaged.paths['/v1/jobs']!.get = { responses: { 200: {} } };
    expect((await new Validator().validate(damaged)).valid).toBe(false);
  });

  test('names every route that there is, and no other', () => {
    const served = api.app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+(?:\{\.\+\})?)/g, '{$1}')}`)
      .filter((route) => !aliases.includes(route));
    const documented = operationsOf(document).map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(served)].sort()).toEqual(documented.sort());
  });
});

describe('every operation', () => {
  test('has an id of its own, a summary, tags and security', () => {
    const operations = operationsOf(document);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(operations.length);
    for (const { path, operation } of operations) {
      expect(operation.operationId).toMatch(/^[a-z][A-Za-z0-9]+$/);
      expect(operation.summary).toMatch(/^.{3,80}$/);
      expect(operation.tags).toHaveLength(1);
      expect(operation.security).toEqual(
        path.startsWith('/v1/') || path === '/metrics' ? [{ bearer: [] }] : [],
      );
    }
  });

  test('declares its parameters, and what every route may answer', () => {
    for (const { path, operation } of operationsOf(document)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect(declared.map(({ name }) => name)).toEqual(inPath);
      const statuses = Object.keys(operation.responses);
      if (path.startsWith('/v1/'))
        expect(statuses).toEqual(expect.arrayContaining(['400', '401', '403', '503']));
      if (inPath.includes('id')) expect(statuses).toContain('404');
      if (operation.requestBody !== undefined) expect(statuses).toEqual(expect.arrayContaining(['413']));
      if (operation.requestBody?.content['application/json'] !== undefined) expect(statuses).toContain('415');
    }
  });

  test('answers errors in the one form of its route', () => {
    for (const { path, operation } of operationsOf(document)) {
      const theirs = /^\/v1\/(chat|models|files|fine_tuning)(\/|$)/.test(path);
      for (const [status, response] of Object.entries(operation.responses)) {
        if (Number(status) < 400 || !path.startsWith('/v1/')) continue;
        const media = theirs ? 'application/json' : 'application/problem+json';
        const schema = `#/components/schemas/${theirs ? 'ChatError' : 'Problem'}`;
        expect({ path, status, content: response.content }).toEqual({
          path,
          status,
          content: { [media]: { schema: { $ref: schema } } },
        });
      }
    }
  });
});

describe('every schema', () => {
  const isAny = (schema: Schema): boolean =>
    !['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'].some((key) => key in schema);

  test('says what it is', () => {
    expect(
      schemasOf(document)
        .filter(({ schema }) => isAny(schema))
        .map(({ at }) => at),
    ).toEqual([]);
  });

  test('has patterns that programs can read', () => {
    for (const { at, schema } of schemasOf(document)) {
      if (schema.pattern === undefined) continue;
      expect({ at, flags: /\/[a-z]+$/.test(schema.pattern) }).toEqual({ at, flags: false });
      expect(() => new RegExp(schema.pattern!, 'u')).not.toThrow();
    }
  });

  test('is one that a validator takes', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(strictly(document), 'api');
    for (const name of Object.keys(document.components.schemas))
      expect(ajv.getSchema(`api#/components/schemas/${name}`)).toBeTypeOf('function');
  });
});

test('a spec with a preset fits the schema of specs, as one without does, and a stage without kind does not', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'api');
  const fits = ajv.getSchema('api#/components/schemas/JobSpec')!;
  const byPreset = spec({
    preset: 'nemotron-cascade-8b',
    stages: [{ name: 'math', data: 'math', steps: 1, mode: 'non_thinking' }],
  });
  for (const good of [spec(), byPreset]) {
    expect(jobSpec.safeParse(good).success).toBe(true);
    expect([fits(good), fits.errors]).toEqual([true, null]);
  }
  for (const bad of [
    spec({ stages: [{ name: 'math', data: 'math', steps: 1 }] }),
    spec({ preset: 'x' }),
    spec({ more: 1 }),
  ])
    expect(fits(bad)).toBe(false);
  expect(JSON.stringify(document)).toContain(JSON.stringify(Object.keys(presets)));
});

// The OpenAPI document: what the routes declare, with the names of operations, and with what schemas cannot say of themselves.
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Env } from '../context.ts';
import { operationOf } from './operations.ts';

type Document = ReturnType<OpenAPIHono<Env>['getOpenAPI31Document']>;
type Operation = NonNullable<NonNullable<Document['paths']>[string]['get']>;
type Schema = NonNullable<NonNullable<Document['components']>['schemas']>[string];

const methods = ['get', 'put', 'post', 'delete', 'patch'] as const;

const info = {
  openapi: '3.1.0',
  info: {
    title: 'Millrace',
    version: '1',
    summary: 'Post-training of language models as jobs',
    description:
      'Errors are application/problem+json with a stable `code`; on the routes that speak OpenAI’s dialect (chat, models, files, fine_tuning) they have that API’s form.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
} as const;

export function openApiDocument(app: Pick<OpenAPIHono<Env>, 'getOpenAPI31Document'>): Document {
  const document = app.getOpenAPI31Document(info);
  for (const [path, item] of Object.entries(document.paths ?? {}))
    for (const method of methods) {
      const operation = item[method];
      if (operation !== undefined) item[method] = complete(method, path, operation);
    }
  const schemas = document.components?.schemas;
  if (schemas?.['JobSpec'] !== undefined) schemas['JobSpec'] = withPresets(schemas['JobSpec']);
  if (schemas?.['JobDetail'] !== undefined) nameSpec(schemas['JobDetail']);
  sayAny(document);
  return document;
}

/** What is described anew is written out anew: the spec of a job is the one that is posted. */
function nameSpec(jobDetail: Schema): void {
  const { properties } = jobDetail as unknown as ObjectSchema;
  properties['spec'] = { $ref: '#/components/schemas/JobSpec', description: 'as posted' };
}

/** Objects whose values may be anything say so by `true`, which readers tell from a schema that was forgotten. */
function sayAny(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  const fields = part as Record<string, unknown>;
  const { additionalProperties: values } = fields;
  if (typeof values === 'object' && values !== null && Object.keys(values).length === 0)
    fields['additionalProperties'] = true;
  for (const inner of Object.values(fields)) sayAny(inner);
}

/** Name and summary first; who needs no key says so. */
const complete = (method: string, path: string, operation: Operation): Operation => ({
  ...operationOf(method, path, operation.description),
  ...operation,
  security: operation.security ?? [],
});

interface ObjectSchema {
  properties: Record<string, object>;
  required: string[];
}

/**
 * A cascade by a preset is a form of its own: its stages name those of the preset, and give of their fields only what the preset
 * does not say.
 */
function withPresets(jobSpec: Schema): Schema {
  const [cascade, ...others] = (jobSpec as { oneOf: ObjectSchema[] }).oneOf;
  if (cascade === undefined) return jobSpec;
  const { preset, ...ofAll } = cascade.properties;
  const { stages, ...ofBoth } = ofAll;
  const named = {
    type: 'object',
    description: 'a stage of the preset by its name, with those fields of its kind that are to be others',
    properties: { name: { type: 'string' }, kind: { type: 'string' } },
    required: ['name'],
    additionalProperties: true,
  };
  const byPreset = {
    ...cascade,
    properties: { ...ofBoth, preset, stages: { ...stages, items: named } },
    required: [...cascade.required, 'preset'],
  };
  return { ...jobSpec, oneOf: [byPreset, { ...cascade, properties: ofAll }, ...others] } as Schema;
}

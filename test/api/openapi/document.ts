// The OpenAPI document as the tests read it: its operations, its schemas, and the same with every object closed, so that an
// answer with a field that nobody declared is found.

export interface Schema {
  type?: string | string[];
  $ref?: string;
  pattern?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  not?: Schema;
}

type Content = Record<string, { schema: Schema }>;

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: unknown;
  parameters?: { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content; headers?: Record<string, unknown> }>;
}

type Method = 'get' | 'put' | 'post' | 'delete' | 'patch';

export interface OpenApi {
  openapi: string;
  paths: Record<string, Record<Method, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface PlacedOperation {
  readonly method: Method;
  readonly path: string;
  readonly operation: Operation;
}

export const operationsOf = ({ paths }: OpenApi): PlacedOperation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method as Method, path, operation })),
  );

interface PlacedSchema {
  readonly at: string;
  readonly schema: Schema;
}

/** Every schema of the document, those within others too. */
export function schemasOf(document: OpenApi): PlacedSchema[] {
  const found: PlacedSchema[] = [];
  const look = (schema: Schema, at: string): void => {
    found.push({ at, schema });
    for (const [inner, place] of partsOf(schema)) look(inner, `${at}${place}`);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) look(schema, name);
  for (const { method, path, operation } of operationsOf(document)) {
    const at = `${method} ${path}`;
    for (const { name, schema } of operation.parameters ?? []) look(schema, `${at} ${name}`);
    const contents = [operation.requestBody, ...Object.values(operation.responses)];
    for (const content of contents)
      for (const [media, { schema }] of Object.entries(content?.content ?? {}))
        look(schema, `${at} ${media}`);
  }
  return found;
}

function partsOf(schema: Schema): [Schema, string][] {
  const parts: [Schema, string][] = [];
  for (const [name, inner] of Object.entries(schema.properties ?? {})) parts.push([inner, `/${name}`]);
  for (const key of ['items', 'additionalProperties', 'not'] as const) {
    const inner = schema[key];
    if (typeof inner === 'object') parts.push([inner, `/${key}`]);
  }
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const)
    (schema[key] ?? []).forEach((inner, index) => parts.push([inner, `/${key}/${index}`]));
  return parts;
}

/** The same document, in which an object holds no field but those it declares, unless it says that it may. */
export function strictly(document: OpenApi): OpenApi {
  const strict = structuredClone(document);
  for (const { schema } of schemasOf(strict))
    if (
      schema.properties !== undefined &&
      schema.additionalProperties === undefined &&
      schema.allOf === undefined
    )
      schema.additionalProperties = false;
  return strict;
}

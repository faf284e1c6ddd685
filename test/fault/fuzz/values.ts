// Values that a schema of the OpenAPI document allows, or nearly: what its patterns and names ask for is taken from things that
// there are, so that requests get past the door.
import type { OpenApi, Schema } from '../../api/openapi/document.ts';
import type { Random } from './random.ts';
import { below, chance, pick } from './random.ts';

export interface Known {
  readonly document: OpenApi;
  /** Ids and names of things by the beginning of an id, or by a field's name. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
}

const mostDepth = 7;

export function valueOf(random: Random, known: Known, schema: Schema, field = '', depth = 0): unknown {
  if (schema.$ref !== undefined) {
    const named = known.document.components.schemas[schema.$ref.split('/').at(-1)!]!;
    return valueOf(random, known, named, field, depth);
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return pick(random, schema.enum);
  const forms = schema.oneOf ?? schema.anyOf;
  if (forms !== undefined) return valueOf(random, known, pick(random, forms), field, depth);
  if (schema.allOf !== undefined)
    return Object.assign(
      {},
      ...schema.allOf.map((one) => valueOf(random, known, one, field, depth)),
    ) as unknown;
  const type = Array.isArray(schema.type) ? pick(random, schema.type) : schema.type;
  switch (type) {
    case 'object':
      return objectOf(random, known, schema, depth);
    case 'array':
      return arrayOf(random, known, schema, field, depth);
    case 'string':
      return stringOf(random, known, schema, field);
    case 'integer':
      return Math.round(numberOf(random, schema));
    case 'number':
      return numberOf(random, schema);
    case 'boolean':
      return chance(random, 0.5);
    default:
      return null;
  }
}

function objectOf(random: Random, known: Known, schema: Schema, depth: number): Record<string, unknown> {
  const optional = depth < mostDepth ? 0.3 : 0;
  const entries = Object.entries(schema.properties ?? {})
    .filter(([name]) => schema.required?.includes(name) === true || chance(random, optional))
    .map(([name, inner]) => [name, valueOf(random, known, inner, name, depth + 1)] as const);
  const { additionalProperties: others } = schema;
  const further = typeof others === 'object' && depth < mostDepth ? below(random, 3) : 0;
  for (let i = 0; i < further; i++)
    entries.push([pick(random, ['a', 'b', 'c']), valueOf(random, known, others as Schema, 'a', depth + 1)]);
  return Object.fromEntries(entries);
}

function arrayOf(random: Random, known: Known, schema: Schema, field: string, depth: number): unknown[] {
  if (schema.prefixItems !== undefined)
    return schema.prefixItems.map((one) => valueOf(random, known, one, field, depth + 1));
  const least = schema.minItems ?? 0;
  const length = Math.min(schema.maxItems ?? 3, least + below(random, 3));
  return Array.from({ length }, () => valueOf(random, known, schema.items ?? {}, field, depth + 1));
}

const byField: Readonly<Record<string, readonly string[]>> = {
  url: ['https://grader.example.com/score', 'http://127.0.0.1:1/'],
  uri: ['/models/any', 's3://bucket/model'],
  prefix: ['jobs/x/a1/'],
  key: ['jobs/x/a1/s.jsonl', 'reward'],
  version: ['1'],
  fields: ['{"prompt":"question"}'],
  grader: ['{"type":"exact"}', '{"type":"math"}'],
  role: ['user', 'assistant', 'system'],
};

const byPattern: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\(s\|m\|h\)/, ['15m', '1s', '576h']],
  [/0-9a-f\]\{64\}/, ['0'.repeat(64)]],
  [/\^secret:/, ['secret:judge']],
  [/thinking\|non_thinking\)\\\./, ['sums.thinking.avg@1']],
  [/^\^\\d\{1,15\}:/, ['1:thinking:reward']],
  [/\^\[\^:\]/, ['mark:x', 'api:openai']],
  [/x21-\\x7e\]\{20/, ['s'.repeat(24)]],
  [/stage:/, ['best', 'stage:math']],
  [/safetensors|trainer/, ['config.json', 'model.safetensors', 'trainer/state.json']],
  [/ftevent/, ['ftevent-00000000000000000000000000-3']],
  [/output_text/, ['{{sample.output_text}}']],
];

function stringOf(random: Random, known: Known, schema: Schema, field: string): string {
  const { pattern = '', format } = schema;
  const prefix = /^\^([a-z]+)_\[/.exec(pattern)?.[1];
  const ids = prefix === undefined ? known.ids[field] : known.ids[prefix];
  if (ids !== undefined && ids.length > 0) return pick(random, ids);
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  const shaped = byPattern.find(([shape]) => pattern !== '' && shape.test(pattern))?.[1];
  const words = shaped ?? byField[field] ?? ['a', 'math', 'x1', 'two words'];
  return pick(random, words).padEnd(schema.minLength ?? 0, 'x');
}

function numberOf(random: Random, { minimum = -3, maximum = 1_000 }: Schema): number {
  const least = Math.max(minimum, Math.min(-3, maximum));
  const most = Math.min(maximum, Math.max(least, 0) + 10);
  return chance(random, 0.2) ? pick(random, [minimum, maximum]) : least + random() * (most - least);
}

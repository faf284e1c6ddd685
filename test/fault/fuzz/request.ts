// Requests for an operation of the document: near what it declares, then made wrong in one place or several: path, query,
// headers, body.
import { gzipSync } from 'node:zlib';
import type { PlacedOperation, Schema } from '../../api/openapi/document.ts';
import { mutate, spoil, strange } from './mutate.ts';
import type { Random } from './random.ts';
import { below, chance, pick } from './random.ts';
import type { Known } from './values.ts';
import { valueOf } from './values.ts';

export interface FuzzRequest {
  readonly placed: PlacedOperation;
  readonly method: string;
  readonly path: string;
  /** In their order, the same name more than once. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | undefined;
  /** Its headers are larger than the server reads: it may answer before any route does. */
  readonly giant: boolean;
}

export interface Target extends Known {
  readonly key: string;
  /** Valid bodies by operation, where chance alone would not find one. */
  readonly bodies: Readonly<Record<string, readonly unknown[]>>;
}

export function requestFor(random: Random, target: Target, placed: PlacedOperation): FuzzRequest {
  const method = chance(random, 0.02)
    ? pick(random, ['PATCH', 'PUT', 'DELETE', 'OPTIONS'])
    : placed.method.toUpperCase();
  const wanted = bodyFor(random, target, placed);
  const body = method === 'GET' || method === 'HEAD' ? undefined : wanted?.bytes;
  const extra = extraHeaders(random);
  const path = pathFor(random, target, placed);
  return {
    placed,
    method,
    path,
    headers: [...authorization(random, target.key), ...(wanted?.headers ?? []), ...extra],
    body,
    giant: path.length + extra.reduce((total, [, value]) => total + value.length, 0) > 12_000,
  };
}

const wrongParts: readonly string[] = [
  '%00',
  '%ff',
  '..',
  '%2e%2e',
  '%2f',
  'none',
  'é',
  "'",
  '*',
  '{id}',
  'x'.repeat(3_000),
  '%ud800',
  '-1',
];

function pathFor(random: Random, target: Target, { path, operation }: PlacedOperation): string {
  const parameters = operation.parameters ?? [];
  const schemaOf = (name: string): Schema =>
    parameters.find((one) => one.name === name)?.schema ?? { type: 'string' };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    if (chance(random, 0.08)) return pick(random, wrongParts);
    const given = valueOf(random, target, schemaOf(name), path.includes('/models/') ? 'model' : name);
    return encodeURIComponent(String(given));
  });
  const query = new URLSearchParams();
  for (const { name, schema } of parameters.filter((one) => one.in === 'query')) {
    // Whoever asks a grader waits for as long as is asked for.
    if (name === 'wait_ms') query.set(name, pick(random, ['0', '20', '-1', 'x']));
    else if (chance(random, 0.35))
      query.append(
        name,
        chance(random, 0.3) ? textOf(pick(random, strange)) : textOf(valueOf(random, target, schema, name)),
      );
  }
  if (chance(random, 0.03)) query.append(pick(random, ['x', 'limit', 'after', '__proto__', '']), 'x');
  const text = query.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

const textOf = (value: unknown): string =>
  (typeof value === 'object' ? JSON.stringify(value) : String(value)).slice(0, 3_000).toWellFormed();

function authorization(random: Random, key: string): [string, string][] {
  const draw = random();
  if (draw < 0.96) return [['authorization', `Bearer ${key}`]];
  if (draw < 0.97) return [];
  return [
    [
      'authorization',
      pick(random, ['Bearer', 'Bearer x', `Basic ${key}`, `Bearer ${key} x`, 'Bearer \u00e9']),
    ],
  ];
}

const headerValues: Readonly<Record<string, readonly string[]>> = {
  'idempotency-key': ['a', 'b', 'ü', ' ', 'x'.repeat(300), 'a b', "'"],
  range: [
    'bytes=0-0',
    'bytes=5-',
    'bytes=-1',
    'bytes=9-1',
    'bytes=99999999999999999999-',
    'bytes=0-0,2-3',
    'x',
    'bytes=a-b',
  ],
  'last-event-id': ['0', '1', '-1', '99999999999999999999', 'x', '', '1.5'],
  accept: ['text/event-stream', '*/*', 'application/xml', ''],
  'x-request-id': ['abc', 'a b', '\u00e9', 'x'.repeat(200)],
  'content-encoding': ['gzip', 'br', 'x', ''],
  'content-type': [
    'text/plain',
    'application/json',
    'multipart/form-data',
    'multipart/form-data; boundary=x',
    'x',
    'application/json; charset=utf-16',
  ],
  'accept-encoding': ['gzip', 'x'],
  'if-none-match': ['*', '"x"'],
};

function extraHeaders(random: Random): [string, string][] {
  const headers: [string, string][] = [];
  while (chance(random, 0.25)) {
    const name = pick(random, Object.keys(headerValues));
    headers.push([name, pick(random, headerValues[name]!)]);
  }
  if (chance(random, 0.005)) headers.push(['x-giant', 'x'.repeat(pick(random, [7_000, 20_000]))]);
  return headers;
}

interface Body {
  readonly bytes: Uint8Array;
  readonly headers: readonly (readonly [string, string])[];
}

function bodyFor(random: Random, target: Target, { operation }: PlacedOperation): Body | undefined {
  const [media, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (media === undefined || content === undefined)
    return chance(random, 0.05) ? plain('application/json', '{"a":1}') : undefined;
  if (chance(random, 0.02)) return plain(media, '');
  const body = ((): Body => {
    if (media === 'multipart/form-data') return formFor(random, target);
    if (media === 'application/x-ndjson') return { ...plain(media, ''), bytes: rowsFor(random, target) };
    if (media !== 'application/json') return plain(media, pick(random, ['', 'x', 'x'.repeat(100), '{}']));
    const known = target.bodies[operation.operationId];
    const value =
      known !== undefined && chance(random, 0.6)
        ? pick(random, known)
        : valueOf(random, target, content.schema);
    const text = JSON.stringify(chance(random, 0.7) ? mutate(random, value) : value) ?? '';
    return { ...plain(media, ''), bytes: spoil(random, text, 0.1) };
  })();
  if (!chance(random, 0.03)) return body;
  const coding: [string, string][] = chance(random, 0.5) ? [['content-encoding', 'gzip']] : [];
  return { bytes: gzipSync(body.bytes), headers: [...body.headers, ...coding] };
}

const plain = (media: string, text: string): Body => ({
  bytes: Buffer.from(text),
  headers: [['content-type', media]],
});

function rowsFor(random: Random, target: Target): Uint8Array {
  const rows = target.bodies['rows'] ?? [{}];
  const chosen = Array.from({ length: 1 + below(random, 4) }, () => {
    const row = pick(random, rows);
    return chance(random, 0.5) ? mutate(random, row) : row;
  });
  const text = chance(random, 0.8)
    ? chosen.map((row) => JSON.stringify(row)).join('\n')
    : JSON.stringify(chosen);
  return spoil(random, text, 0.15);
}

/** A form, its parts now and then wrong, doubled, missing or without an end. */
function formFor(random: Random, target: Target): Body {
  const boundary = pick(random, ['b', 'x'.repeat(70), '----b']);
  const part = (head: string, body: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), body, Buffer.from('\r\n')]);
  const name = pick(random, ['rows.jsonl', 'rows.jsonl', '', 'ü\\"', '../x', 'a'.repeat(300), '%00', '\0']);
  const parts = [
    part(
      'content-disposition: form-data; name="purpose"',
      Buffer.from(pick(random, ['fine-tune', 'fine-tune', 'fine-tune', 'x', '\0', ''])),
    ),
    part(`content-disposition: form-data; name="file"; filename="${name}"`, rowsFor(random, target)),
    ...(chance(random, 0.1)
      ? [
          part(
            pick(random, [
              '',
              'x',
              'content-disposition: form-data; name="x"',
              'content-disposition: attachment',
            ]),
            Buffer.from('x'),
          ),
        ]
      : []),
  ].filter(() => !chance(random, 0.05));
  if (chance(random, 0.5)) parts.reverse();
  const end = chance(random, 0.95) ? `--${boundary}--\r\n` : '';
  const bytes = Buffer.concat([...parts, Buffer.from(end)]);
  const damaged = chance(random, 0.05) ? bytes.subarray(0, below(random, bytes.length)) : bytes;
  return { bytes: damaged, headers: [['content-type', `multipart/form-data; boundary=${boundary}`]] };
}

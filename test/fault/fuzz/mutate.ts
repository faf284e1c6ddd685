// Values made wrong: parts replaced by strange ones, taken away, doubled, added; texts cut or damaged byte by byte.
import type { Random } from './random.ts';
import { below, chance, pick } from './random.ts';

const deep = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

export const strange: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  -1,
  1.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  '',
  'x',
  '\0',
  '\ud800',
  'a\udfffb',
  'a'.repeat(300),
  'ü'.repeat(5_000),
  '__proto__',
  "'; drop table jobs; --",
  '../../etc/passwd',
  '{}',
  'NaN',
  '💥',
  '\u202e\u200b\ufeff',
  '2026-02-30T25:61:61Z',
  '+275760-09-13T00:00:00.001Z',
  [],
  [[]],
  {},
  deep(60),
  deep(150),
  { __proto__: 1, constructor: { prototype: 1 } },
  { type: 'cascade' },
  JSON.parse('{"__proto__":{"a":1}}'),
];

const keys: readonly string[] = [
  'x',
  '',
  '\0',
  '\ud800',
  '__proto__',
  'constructor',
  'name',
  'type',
  'a/b~c',
];

/** The same value with one to three of its parts replaced, removed, doubled or added. */
export function mutate(random: Random, value: unknown): unknown {
  let mutated = structuredClone(value);
  for (let i = 0; i <= random() * 2; i++) mutated = mutateOnce(random, mutated);
  return mutated;
}

function mutateOnce(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || chance(random, 0.1)) return pick(random, strange);
  const own = Object.keys(value);
  if (own.length === 0 || chance(random, 0.15))
    return { ...value, [pick(random, keys)]: pick(random, strange) };
  const key = pick(random, own);
  const part = (value as Record<string, unknown>)[key];
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value)
    ? [...(value as unknown[])]
    : { ...value };
  const slots = copy as Record<string, unknown>;
  if (chance(random, 0.15)) Reflect.deleteProperty(copy, key);
  else if (Array.isArray(copy) && chance(random, 0.1)) copy.push(...copy);
  else slots[key] = mutateOnce(random, part);
  return copy;
}

/** What no value of JavaScript becomes when it is written as JSON. */
const rawJson: readonly string[] = [
  '-0',
  '1e999',
  '-1e999',
  'NaN',
  'undefined',
  '{"a":1,"a":2}',
  '{"type":"cascade","type":"sft"}',
  '"\\ud800"',
  '\ufeff{}',
  "{'a':1}",
  '[1,]',
  '{}{}',
  'null',
  '[]',
  '""',
  '0123',
  '"\t"',
];

/** The bytes of a text that is sometimes cut, has a byte changed, is nested without end, or is no JSON at all. */
export function spoil(random: Random, text: string, share = 0.2): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Buffer.from(text));
  if (!chance(random, share)) return bytes;
  switch (below(random, 4)) {
    case 0:
      return bytes.slice(0, below(random, bytes.length + 1));
    case 1:
      if (bytes.length > 0) bytes[below(random, bytes.length)] = below(random, 256);
      return bytes;
    case 2:
      return new Uint8Array(Buffer.from(pick(random, ['[', '{"a":']).repeat(below(random, 3_000))));
    default:
      return new Uint8Array(Buffer.from(pick(random, rawJson)));
  }
}

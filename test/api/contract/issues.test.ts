// From zod's issues to pointers: escapes, unknown fields, unions.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { issuesOf, jsonPointer } from '../../../api/contract/issues.ts';

const issues = (schema: z.ZodType, value: unknown) => issuesOf(schema.safeParse(value).error as z.ZodError);

test('pointers escape as RFC 6901 says', () => {
  expect(jsonPointer(['a/b', 0, 'm~n', ''])).toBe('/a~1b/0/m~0n/');
  expect(jsonPointer([])).toBe('');
});

test('each unknown field is named by itself', () => {
  expect(issues(z.strictObject({ a: z.strictObject({}) }), { a: { x: 1, 'y/z': 2 } })).toEqual([
    { pointer: '/a/x', message: 'there is no such field' },
    { pointer: '/a/y~1z', message: 'there is no such field' },
  ]);
});

test('a field that is not there must be given', () => {
  const schema = z.object({ n: z.number(), deep: z.object({ s: z.string() }) });
  expect(issues(schema, { deep: { s: 1 } })).toEqual([
    { pointer: '/n', message: 'must be given: expected number' },
    { pointer: '/deep/s', message: 'Invalid input: expected string, received number' },
  ]);
});

const source = z.union([
  z.strictObject({ uri: z.string() }),
  z.strictObject({ type: z.literal('c'), alphabet: z.string() }),
]);

test('a union tells of the form that was meant', () => {
  expect(
    issues(z.object({ source }), { source: { type: 'c', alphabet: 1 } }).map((issue) => issue.pointer),
  ).toEqual(['/source/alphabet']);
  expect(issues(z.union([z.string(), z.array(z.number())]), [1, 'x']).map((issue) => issue.pointer)).toEqual([
    '/1',
  ]);
});

test('a union says what each form wants where none was', () => {
  const [issue, ...more] = issues(z.object({ source }), { source: { type: 'd' } });
  expect(more).toEqual([]);
  expect(issue?.pointer).toBe('/source');
  expect(issue?.message).toMatch(/fits none of its forms: .*\/uri .*; or .*\/alphabet/);
  expect(issues(z.union([z.string(), z.number()]), true)).toEqual([
    { pointer: '', message: 'Invalid input: expected string or number, received boolean' },
  ]);
});

test('a field of several types that is not there must be given', () => {
  const prompt = z.union([z.string().min(1), z.array(z.string())]);
  expect(issues(z.object({ prompt }), { question: '' })).toEqual([
    { pointer: '/prompt', message: 'must be given: expected string or array' },
  ]);
  const tests = z.union([z.string(), z.array(z.string()), z.array(z.number())]);
  expect(issues(z.object({ tests }), {})[0]?.message).toBe('must be given: expected string or array');
  expect(issues(prompt, '')[0]?.message).not.toMatch(/must be given/);
});

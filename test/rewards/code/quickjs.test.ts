// Function tests and pairs in JavaScript on the weaker back end: the same verdicts, by the same drivers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeRow } from '../../../api/contract/task.ts';
import { codeVerifier, gradableLanguages } from '../../../runner/rewards/code.ts';
import { testFaults } from '../../../runner/rewards/code/test-faults.ts';
import { openSandbox } from '../../../runner/rewards/sandbox/open.ts';
import type { Sandbox } from '../../../runner/rewards/sandbox/sandbox.ts';
import { noTestData, testDataDir } from '../../support/test-data.ts';
import { humanEvalJsRows } from './support/published-rows.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ backEnds: ['quickjs'] });
});
afterAll(() => sandbox.close());

const grade = (row: CodeRow, code: string) =>
  codeVerifier(sandbox, 'javascript').grade(row, `\`\`\`js\n${code}\n\`\`\``);

describe('function tests in QuickJS', () => {
  const tests = (...statements: string[]): CodeRow => ({
    prompt: 'p',
    setup: "const assert = require('node:assert');",
    tests: statements,
  });
  const echo = 'const echo = (x) => x;';
  it('takes equal values for equal', async () => {
    const row = tests(
      'assert.deepEqual(echo([1, { a: "2" }]), [1, { a: 2 }])',
      'assert.deepStrictEqual(echo(new Map([[{ a: 1 }, new Set([1])]])), new Map([[{ a: 1 }, new Set([1])]]))',
      'assert.equal(echo("1"), 1); assert.strictEqual(echo(NaN), NaN); assert(echo(true))',
      'assert.throws(() => echo.missing.call(), TypeError)',
    );
    expect(await grade(row, echo)).toMatchObject({
      status: 'scored',
      value: 1,
      parts: { passed: 4, tests: 4 },
    });
  });
  it.each([
    'assert.deepStrictEqual(echo([1, { a: "2" }]), [1, { a: 2 }])',
    'assert.deepEqual(echo([1, 2]), [1])',
    'assert.deepEqual(echo({ a: 1 }), { a: 1, b: undefined })',
    'assert.deepEqual(echo([]), {})',
    'assert.deepEqual(echo(undefined), [])',
    'assert.deepEqual(echo(new Set([1, 1, 2])), new Set([1, 3]))',
    'assert.strictEqual(echo(0), -0)',
    'assert.notDeepEqual(echo([1]), [1])',
    'assert.throws(() => echo(1))',
    '(async () => assert.ok(echo(true)))()',
  ])('fails %s', async (statement) => {
    expect(await grade(tests(statement), echo)).toMatchObject({ status: 'scored', value: 0 });
  });

  it('lets an answer print', async () => {
    expect(await grade(tests('assert.equal(echo(5), 5)'), `console.log(1); ${echo}`)).toMatchObject({
      value: 1,
    });
  });

  it('offers only the language in which it can grade', () => {
    const { languages, missing } = gradableLanguages(sandbox);
    expect(languages).toEqual(['javascript']);
    expect(missing.typescript).toMatch(/typescript need bubblewrap/);
    expect(gradableLanguages({ ...sandbox, backEnd: 'bubblewrap' }).languages).toContain('typescript');
  });

  it('scores nothing where even a right answer would fail: whole programs, TypeScript', async () => {
    const pairs = { prompt: 'p', tests: [{ input: '1', output: '1' }] };
    const unbacked = { status: 'unscored', code: 'no_backend' };
    expect(await grade(pairs, 'x')).toMatchObject(unbacked);
    const typed = codeVerifier(sandbox, 'typescript').grade(
      tests('assert.equal(echo(5), 5)'),
      `\`\`\`ts\n${echo}\n\`\`\``,
    );
    expect(await typed).toMatchObject(unbacked);
    const python = codeVerifier(sandbox, 'python').grade({ prompt: 'p', tests: 'f()' }, 'x = 1');
    expect(await python).toMatchObject(unbacked);
  });

  const wrong = 'function echo() { return 7; }';
  it.each([
    ['the report written by the answer', `host.write(3, '{"end":"passed","passed":1}'); ${wrong}`],
    [
      'replies written in advance',
      `for (let id = 1; id < 5; id++) host.write(4, '{"id":' + id + ',"value":5}\\n'); ${wrong}`,
    ],
    [
      'prototypes replaced',
      `Array.prototype.every = () => true; JSON.stringify = () => '{}'; Object.is = () => true; ${wrong}`,
    ],
    ['an object that equals everything', 'function echo() { return { valueOf: () => 5 }; }'],
    ['an end', 'throw 0;'],
    ['a promise', 'async function echo(x) { return x; }'],
  ])('gives 0 for %s', async (_title, code) => {
    const reward = await grade(tests('assert.equal(echo(5), 5)'), code);
    expect(reward).toMatchObject({ value: 0 });
    expect(['scored', 'invalid']).toContain(reward.status);
  });
});

it.skipIf(testDataDir === undefined)(
  `fails functions that do nothing in HumanEval-JS, of which one row does not parse (${noTestData} otherwise)`,
  { timeout: 120_000 },
  async () => {
    const rows = humanEvalJsRows().filter(
      ({ name }, at) => at % 16 === 0 || name.startsWith('HumanEval_51_'),
    );
    const kept = await Promise.all(
      rows.map(async ({ name, row }) => {
        const reward = await grade(row, `${row.prompt as string}}`);
        expect(reward).toMatchObject({ status: 'scored', value: 0 });
        return (await testFaults(sandbox, 'javascript', row)) === undefined ? [] : [name];
      }),
    );
    expect(kept.flat()).toEqual(['HumanEval_51_remove_vowels']);
  },
);

// Answers in JavaScript that do not solve their task but want the reward: each is worth 0, while an honest answer to the same task
// is worth 1. What each tries stands in its title.
import { describe, expect, it } from 'vitest';
import type { CodeRow } from '../../../api/contract/task.ts';
import { useAttacks } from './support/worthless.ts';

const { grade, expectWorthless } = useAttacks('javascript');

/** HumanEval-JS's shape. */
const program: CodeRow = {
  prompt: '//Add two numbers\nfunction add(x, y){\n',
  tests:
    "const assert = require('node:assert');\n\n\nfunction test() {\n  let candidate = add;\n  assert.deepEqual(candidate(0, 1),1);\n  assert.deepEqual(candidate(2, 3),5);\n  assert.deepEqual(candidate(40, 2),42);\n}\n\ntest();",
};
const statements: CodeRow = {
  prompt: 'Write add.',
  setup: "const assert = require('node:assert');",
  tests: [
    'assert.strictEqual(add(0, 1), 1)',
    'assert.strictEqual(add(2, 3), 5)',
    'assert.ok(add(40, 2) === 42)',
  ],
};
const honest = 'const add = (x, y) => x + y;';
const wrong = '\nfunction add(x, y) { return -1; }';
const report = `'{"end":"passed","passed":3}'`;

const attacks: Readonly<Record<string, string>> = {
  'process.exit(0) at the top': `process.exit(0);${wrong}`,
  'process.exit(0) in the function': 'function add() { process.exit(0); }',
  'process.reallyExit(0)': 'function add() { process.reallyExit(0); }',
  'an exit handler': `process.on('exit', () => { require('fs').writeSync(3, ${report}); process.exitCode = 0; });${wrong}`,
  'the report written by the answer': `require('fs').writeSync(3, ${report});${wrong}`,
  'success printed': `console.log(${report}); console.error('ok');${wrong}`,
  'replies written in advance': `for (let id = 1; id < 9; id += 1) require('fs').writeSync(4, JSON.stringify({ id, value: true }) + '\\n');${wrong}`,
  'replies that are no JSON': `require('fs').writeSync(4, '{{{\\n'.repeat(9));${wrong}`,
  'a reply nested a million deep': `require('fs').writeSync(4, '{"id":1,"value":' + '['.repeat(1e6) + ']'.repeat(1e6) + '}\\n');${wrong}`,
  'a reply that pollutes prototypes': `require('fs').writeSync(4, '{"id":1,"value":{"o":[["__proto__",{"o":[["gone",1]]}],["constructor",1]]}}\\n');${wrong}`,
  'node:assert replaced': `const assert = require('node:assert'); for (const k of Object.keys(assert)) assert[k] = () => {}; require.cache = {};${wrong}`,
  'the module loader replaced': `const M = require('node:module'); M._load = () => new Proxy(() => {}, { get: () => () => {} });${wrong}`,
  'Object.prototype extended': `Object.prototype.gone = undefined; Object.prototype.value = 5; Object.prototype.end = 'passed'; Object.defineProperty(Object.prototype, 'failure', { get: () => undefined });${wrong}`,
  'JSON.stringify replaced': `JSON.stringify = () => ${report}; JSON.parse = () => ({});${wrong}`,
  'Array.prototype.every replaced': `Array.prototype.every = () => true; Array.prototype.some = () => false; Object.is = () => true;${wrong}`,
  'an object with valueOf': 'function add() { return { valueOf: () => 5, toString: () => "5" }; }',
  'a class instance with valueOf':
    'class N { valueOf() { return 5; } [Symbol.toPrimitive]() { return 5; } } function add() { return new N(); }',
  'an object that equals everything in turn':
    'let n = 0; const answers = [0, 4, 41]; class N { valueOf() { return answers[n++] + 1; } } function add() { return new N(); }',
  'a proxy': 'function add() { return new Proxy({}, { get: () => 5, has: () => true, ownKeys: () => [] }); }',
  toJSON: 'function add() { return { toJSON: () => 5 }; }',
  'a thenable': 'function add() { return { then: (resolve) => resolve(5) }; }',
  'a function': 'function add() { return () => 5; }',
  'an array of the value': 'function add(x, y) { return [[x + y - 1]]; }',
  'not a number': 'function add() { return NaN; }',
  'an error': 'function add() { throw new Error("5"); }',
  'nothing thrown': 'function add() { throw undefined; }',
  'a promise that rejects': 'async function add() { throw 5; }',
  'a rejection that nobody awaits': `Promise.reject(new Error('x'));${wrong}`,
  'an answer that never settles': 'const add = () => new Promise(() => {});',
  'a child process that goes on': `try { require('child_process').spawn('/bin/sleep', ['1000'], { detached: true, stdio: 'inherit' }).unref(); } catch {}${wrong}`,
  'everybody killed': `process.kill(-1, 'SIGKILL');${wrong}`,
  'an abort': `process.abort();${wrong}`,
  'assert and test defined by the answer': `var assert = { deepEqual() {}, strictEqual() {}, ok() {} }; globalThis.assert = assert; function test() {}${wrong}`,
  'globals replaced': `globalThis.require = () => ({ deepEqual() {}, strictEqual() {}, ok() {} }); globalThis.test = () => {};${wrong}`,
  'no function': ';',
};

/** These end at a limit, so each costs seconds. */
const costly: Readonly<Record<string, string>> = {
  'an endless loop': 'function add() { for (;;); }',
  'memory eaten': 'function add() { const kept = []; for (;;) kept.push(new Array(1e5).fill(kept.length)); }',
  'a regular expression that never ends':
    'function add() { return /^(a+)+$/.test("a".repeat(64) + "b") ? 1 : 5; }',
};

describe.each([
  ['a program', program],
  ['a list of statements', statements],
])('tests as %s', (_name, row) => {
  it('gives an honest answer 1', async () => {
    expect(await grade(row, honest)).toMatchObject({ status: 'scored', value: 1 });
  });
  it.concurrent.each(Object.entries(attacks))('gives 0 for %s', (_title, code) => expectWorthless(row, code));
});

describe('answers that end at a limit', () => {
  it.concurrent.each(Object.entries(costly))('gives 0 for %s', (_title, code) =>
    expectWorthless(statements, code),
  );
});

it('has no object of the answer take part in a comparison, and each test see the same one', async () => {
  const row = {
    prompt: 'p',
    setup: "const assert = require('node:assert');",
    tests: ['const found = few(); assert.ok(found > 10); assert.ok(found < 5);'],
  };
  const faces = (body: string) => `let turn = 0; const face = () => (turn++ === 0 ? 11 : 4); ${body}`;
  await expectWorthless(row, faces('const few = () => ({ valueOf: face });'));
  await expectWorthless(row, faces('const few = () => ({ toString: face });'));
  await expectWorthless(row, faces('class F { valueOf() { return face(); } } const few = () => new F();'));
  const iterated = {
    ...row,
    tests: ['const r = few(); assert.ok([...r][0] > 10); assert.ok([...r][0] < 5);'],
  };
  await expectWorthless(iterated, faces('const few = () => ({ *[Symbol.iterator]() { yield face(); } });'));
  await expectWorthless(
    iterated,
    faces('class F { *[Symbol.iterator]() { yield face(); } } const few = () => new F();'),
  );
  const spread = { ...row, tests: ['assert.deepEqual([...few()], [1, 2]);'] };
  expect(await grade(spread, 'function* few() { yield 1; yield 2; }')).toMatchObject({ value: 1 });
});

it('leaves variables of the tests to the tests, also undeclared ones', async () => {
  const row = {
    prompt: 'p',
    setup: "const assert = require('node:assert');",
    tests: ['for (i = 0; i < 3; i += 1) { result = add(i, i); assert.equal(result, 2 * i); }'],
  };
  expect(await grade(row, honest)).toMatchObject({ status: 'scored', value: 1 });
  expect(await grade(row, `var i = 5, result = 5; ${honest}`)).toMatchObject({ status: 'scored', value: 1 });
  await expectWorthless(row, `var i = 100; function add() { return -1; }`);
});

it('gives tests that wait a promise that rejects, which is no other failure', async () => {
  const row = {
    prompt: 'p',
    setup: "const assert = require('node:assert');",
    tests: [
      'assert.rejects(() => half(1), RangeError);',
      'assert.rejects(half(1), { message: "odd" });',
      'half(2).then((found) => assert.equal(found, 1));',
      'half(1).then(() => assert.fail(), (error) => assert.equal(error.message, "odd"));',
      '(async () => { try { await half(1); } catch (error) { return; } assert.fail(); })();',
    ],
  };
  const half = (thrown: string) => `async function half(n) { if (n % 2) throw ${thrown}; return n / 2; }`;
  expect(await grade(row, half('new RangeError("odd")'))).toMatchObject({ status: 'scored', value: 1 });
  await expectWorthless(row, half('new TypeError("odd")'));
  await expectWorthless(row, 'async function half(n) { return n / 2; }');
  await expectWorthless(row, 'async function half(n) { throw new RangeError("odd"); }');
  await expectWorthless(row, 'function half(n) { throw new RangeError("odd"); }');
});

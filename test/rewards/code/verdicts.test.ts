// What a response is worth in each way that it can go wrong, and whose fault it is. Real sandboxes; the one whose canary fails is a
// real one that is told to say so.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { CodeRow } from '../../../api/contract/task.ts';
import { codeVerifier } from '../../../runner/rewards/code.ts';
import { testFaults } from '../../../runner/rewards/code/test-faults.ts';
import { createGrader } from '../../../runner/rewards/grade.ts';
import { openSandbox } from '../../../runner/rewards/sandbox/open.ts';
import type { Sandbox } from '../../../runner/rewards/sandbox/sandbox.ts';
import { means } from '../../support/means.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.close());

const grade = (row: CodeRow, response: string, language: CodeLanguage = 'python') =>
  codeVerifier(sandbox, language).grade(row, response);
const python = (code: string): string => `Here:\n\`\`\`python\n${code}\n\`\`\`\n`;

const row: CodeRow = {
  prompt: 'from typing import List\n\n\ndef total(numbers: List[int]) -> int:\n    """Sum of numbers."""\n',
  entry_point: 'total',
  tests: 'def check(candidate):\n    assert candidate([]) == 0\n    assert candidate([1, 2]) == 3\n',
};
const passed = { status: 'scored', value: 1, parts: { passed: 1, tests: 1 } };

describe('what counts as a use of the answer', () => {
  const assertion = { python: 'assert x == 3', javascript: "require('assert').equal(x, 3)" };
  it.each(['python', 'javascript'] as const)('a variable that the tests read, in %s', async (language) => {
    const sets = (x: number) => `\`\`\`${language}\nx = ${x}\n\`\`\``;
    const of: CodeRow = { prompt: 'Set x to 3.', tests: [assertion[language]] };
    expect(await grade(of, sets(3), language)).toMatchObject({ value: 1 });
    expect(await grade(of, sets(4), language)).toMatchObject({ value: 0 });
    const unused: CodeRow = { ...of, tests: [language === 'python' ? 'assert True' : 'true'] };
    expect(await grade(unused, sets(3), language)).toMatchObject({ value: 0 });
  });
});

describe('where the program is', () => {
  it.each([
    ['a fenced function', python('def total(n): return sum(n)')],
    [
      'a fenced function that leans on the prompt’s imports',
      python('def total(n: List[int]): return sum(n)'),
    ],
    ['a function that is not fenced', 'def total(n): return sum(n)'],
    ['what follows the prompt', '    return sum(numbers)\n'],
    ['what follows the prompt, fenced', python('    return sum(numbers)')],
    [
      'the last of several blocks',
      `${python('def total(n): return 0')}No:\n${python('def total(n): return sum(n)')}`,
    ],
    ['a block before one that shows output', `${python('def total(n): return sum(n)')}\`\`\`\n3\n\`\`\``],
    ['after the thinking block', `<think>${python('x')}</think>${python('def total(n): return sum(n)')}`],
    ['a method of Solution', python('class Solution:\n    def total(self, n): return sum(n)')],
    ['with carriage returns', python('def total(n):\r\n    return sum(n)\r\n')],
    ['a block that is not closed', '```python\ndef total(n):\n    return sum(n)\n'],
  ])('finds %s', async (_title, response) => {
    expect(await grade(row, response)).toMatchObject(passed);
  });

  it('goes on from the program in the last message of a chat', async () => {
    const content = `Complete this:\n\`\`\`python\n${row.prompt as string}\`\`\``;
    const chat: CodeRow = {
      ...row,
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content },
      ],
    };
    expect(await grade(chat, python('    return sum(numbers)'))).toMatchObject(passed);
    const verifier = codeVerifier(sandbox, 'python');
    for (const solution of ['    return sum(numbers)\n', 'def total(n):\n    return sum(n)\n']) {
      const gold = verifier.goldResponse({ ...chat, solution });
      expect(await verifier.grade(chat, gold as string)).toMatchObject(passed);
    }
    expect(verifier.goldResponse(chat)).toBeUndefined();
    expect(verifier.maxScore(chat)).toBe(1);
  });

  it.each([
    ['nothing', '', 'no_answer'],
    ['thinking without end', '<think>def total(n): return sum(n)', 'no_answer'],
    ['an empty block', python(''), 'no_answer'],
    ['prose', 'I cannot solve this, sorry.', 'no_answer'],
    ['a block in another language only', '```java\nint total;\n```', 'no_answer'],
    ['a fenced syntax error', python('def total(n) return sum(n)'), 'unparsable'],
    ['brackets nested too deep', python(`x = ${'('.repeat(100_000)}`), 'unparsable'],
    ['a null byte', python('x = "\u0000"'), 'unparsable'],
  ])('calls %s invalid', async (_title, response, code) => {
    expect(await grade(row, response)).toMatchObject({ status: 'invalid', code, value: 0 });
  });
});

describe('what failed', () => {
  const statements = { prompt: 'p', tests: ['assert f(1) == 1', 'assert f(2) == 4', 'assert f(3) == 9'] };
  it('names the first test that fails and counts those before it', async () => {
    expect(await grade(statements, python('def f(x): return x * 2 - 1'))).toEqual({
      status: 'scored',
      value: 0,
      parts: { passed: 1, tests: 3 },
      detail: 'test 2 of 3: assert f(2) == 4 — AssertionError: ',
    });
  });
  it('names what the answer raised', async () => {
    expect(await grade(statements, python('def f(x): return {}[x]'))).toMatchObject({
      value: 0,
      detail: expect.stringContaining('KeyError') as string,
    });
    expect(await grade(statements, python('raise ImportError("nothing here")'))).toMatchObject({
      value: 0,
      detail: expect.stringContaining('nothing here') as string,
    });
  });
  it('sees at once that the answer has crashed, also with questions unread', async () => {
    const crash = 'import ctypes, time\ntime.sleep(0.3)\nctypes.string_at(0)';
    expect(await grade(statements, python(crash))).toMatchObject({
      status: 'scored',
      detail: 'test 1 of 3: AnswerGone: the answer’s program ended',
    });
  });
  it('does not mind what an honest answer prints, reads or leaves running', async () => {
    const chatty =
      'import sys, threading, time\nprint("x" * 5_000_000)\ndef f(x):\n    print(x); sys.stderr.write("!"); return x * x\nthreading.Thread(target=time.sleep, args=(60,)).start()';
    expect(await grade(statements, python(chatty))).toMatchObject({ status: 'scored', value: 1 });
  });
});

describe('values that pass between answer and tests', () => {
  it.each([
    ['1.5', 'f(1.5) == 1.5 and type(f(1)) is int and type(f(True)) is bool and f(None) is None'],
    ['big integers', 'f(10 ** 5000) == 10 ** 5000 and f(-2 ** 63) == -2 ** 63'],
    [
      'floats',
      "f(float('inf')) == float('inf') and f(float('nan')) != f(float('nan')) and str(f(-0.0)) == '-0.0' and f(0.1 + 0.2) == 0.1 + 0.2",
    ],
    [
      'collections',
      'f([1, (2, {3}), {"a": [b"x", 1j]}]) == [1, (2, {3}), {"a": [b"x", 1j]}] and f((1,)) != [1]',
    ],
    [
      'keys that are no strings',
      'f({(1, 2): {1: 2}, None: frozenset({1})}) == {(1, 2): {1: 2}, None: frozenset({1})}',
    ],
    ['text', 'f("\\ud800 é 😀 \\x00\\n") == "\\ud800 é 😀 \\x00\\n"'],
    ['ranges and types', 'f(range(3)) == range(3) and f(int) is int'],
    ['fractions', '(lambda F: f(F(1, 3)) == F(1, 3))(__import__("fractions").Fraction)'],
    ['counters', '(lambda C: f(C("aab")) == C("aab"))(__import__("collections").Counter)'],
  ])('keeps %s', async (_title, condition) => {
    const reward = await grade({ prompt: 'p', tests: [`assert ${condition}`] }, python('def f(x): return x'));
    expect(reward).toMatchObject({ status: 'scored', value: 1 });
  });

  it('keeps objects of the answer where they are', async () => {
    const tests = {
      prompt: 'p',
      tests: [
        's = Stack(2)\ns.push(3)\ns.push(4)\nassert s.pop() == 4 and s.items == [2, 3]',
        's.items = [9]\nassert s.pop() == 9',
        'assert peek(s) is None',
      ],
    };
    const stack = `class Stack:
    def __init__(self, first): self.items = [first]
    def push(self, x): self.items.append(x)
    def pop(self): return self.items.pop()
def peek(s): return s.items[-1] if s.items else None`;
    expect(await grade(tests, python(stack))).toMatchObject({ status: 'scored', value: 1 });
    expect(await grade(tests, python(stack.replace('.pop()', '.pop(0)')))).toMatchObject({ value: 0 });
  });

  it('does not carry back what the answer does to its arguments: the gold of such a row fails, so the row is named', async () => {
    const inPlace = { prompt: 'p', tests: ['x = [2, 1]\nf(x)\nassert x == [1, 2]'] };
    expect(await grade(inPlace, python('def f(x): x.sort()'))).toMatchObject({ status: 'scored', value: 0 });
  });
});

describe('function tests as pairs of JSON', () => {
  const pairs: CodeRow = {
    prompt: 'p',
    entry_point: 'pad',
    tests: [
      { input: '[1, 2]\n2', output: '[1, 2, null, null]' },
      { input: '[]\n0', output: '[]' },
    ],
  };
  it.each<[CodeLanguage, string, string]>([
    [
      'python',
      'class Solution:\n    def pad(self, items, n): return (*items, *[None] * n)',
      'def pad(items, n): return items',
    ],
    [
      'javascript',
      'const pad = (items, n) => [...items, ...Array(n).fill(null)];',
      'const pad = (items) => items;',
    ],
    [
      'typescript',
      'export function pad(items: (number | null)[], n: number) { return [...items, ...Array<null>(n).fill(null)]; }',
      'let pad = (items: unknown) => items',
    ],
  ])('in %s', async (language, right, wrong) => {
    expect(await grade(pairs, `\`\`\`${language}\n${right}\n\`\`\``, language)).toMatchObject({
      status: 'scored',
      value: 1,
      parts: { passed: 2, tests: 2 },
    });
    expect(await grade(pairs, `\`\`\`${language}\n${wrong}\n\`\`\``, language)).toMatchObject({
      value: 0,
      parts: { passed: 0, tests: 2 },
    });
  });
});

describe('JavaScript and TypeScript', () => {
  const tests =
    "const assert = require('node:assert');\nfunction test() {\n  let candidate = twice;\n  assert.deepEqual(candidate([1, { a: 2 }]), [1, { a: 2 }, 1, { a: 2 }]);\n}\ntest();";
  const twice: CodeRow = { prompt: 'function twice(list){\n', tests, entry_point: 'twice' };
  it.each<[string, CodeLanguage, string]>([
    ['what follows the prompt', 'javascript', '  return [...list, ...list];\n}'],
    ['an arrow function', 'javascript', '```js\nconst twice = (list) => list.concat(list);\n```'],
    [
      'exports of CommonJS',
      'javascript',
      '```javascript\nmodule.exports = { twice: (l) => [...l, ...l] };\n```',
    ],
    [
      'a module',
      'javascript',
      '```js\nimport { inspect as i } from "node:util";\nexport default function twice(l) { i(l); return [...l, ...l]; }\n```',
    ],
    [
      'types, an enumeration and generics',
      'typescript',
      '```ts\nenum Side { Left, Right }\nexport const twice = <T,>(l: readonly T[]): T[] => Side.Left === 0 ? [...l, ...l] : [];\n```',
    ],
  ])('takes %s', async (_title, language, response) => {
    expect(await grade(twice, response, language)).toMatchObject(passed);
  });
  it('calls what does not parse invalid', async () => {
    for (const language of ['javascript', 'typescript'] as const)
      expect(await grade(twice, '```\nfunction twice( {\n```', language)).toMatchObject({
        status: 'invalid',
        code: 'unparsable',
      });
  });
  it('passes nothing where the tests ended before the last of them', async () => {
    const leaving = {
      prompt: 'p',
      tests: ['if (f() !== 1) throw new Error(); return;', 'if (f() !== 2) throw new Error();'],
    };
    expect(await grade(leaving, '```js\nconst f = () => 1;\n```', 'javascript')).toMatchObject({
      status: 'scored',
      value: 0,
      parts: { passed: 0, tests: 2 },
    });
  });
  it('waits for tests that wait', async () => {
    const waiting = {
      prompt: 'p',
      tests: "const assert = require('node:assert');\n(async () => { assert.equal(await later(2), 4); })();",
    };
    const later = (factor: number) =>
      `\`\`\`js\nconst later = async (x) => { await new Promise((r) => setTimeout(r, 5)); return x * ${factor}; };\n\`\`\``;
    expect(await grade(waiting, later(2), 'javascript')).toMatchObject({ status: 'scored', value: 1 });
    expect(await grade(waiting, later(3), 'javascript')).toMatchObject({ status: 'scored', value: 0 });
  });
});

describe('whose fault it is', () => {
  const hanging = python('def total(n):\n    while True: pass');
  it('calls an answer that is too slow invalid while the canary passes', { timeout: 120_000 }, async () => {
    expect(await grade(row, hanging)).toMatchObject({ status: 'invalid', code: 'timeout', value: 0 });
  });
  it('scores nothing while the canary fails too', { timeout: 120_000 }, async () => {
    const ill: Sandbox = { ...bound(sandbox), canary: async () => 'it takes too long' };
    expect(await codeVerifier(ill, 'python').grade(row, hanging)).toEqual({
      status: 'unscored',
      code: 'sandbox_down',
      detail: 'the canary fails too: it takes too long',
    });
  });
  it('scores nothing once the sandbox is closed', async () => {
    const closed = await openSandbox({ slots: 1 });
    await closed.close();
    const reward = await codeVerifier(closed, 'python').grade(row, python('def total(n): return sum(n)'));
    expect(reward).toMatchObject({ status: 'unscored', code: 'sandbox_down' });
  });
  it('scores nothing without a back end, but knows an empty answer without one', async () => {
    const grader = createGrader({ type: 'code', language: 'python' }, means);
    expect(await grader.grade(row, python('x = 1'))).toMatchObject({
      status: 'unscored',
      code: 'no_backend',
    });
    expect(await grader.grade(row, '')).toMatchObject({ status: 'invalid', code: 'no_answer' });
    const none: Sandbox = { ...bound(sandbox), languages: [], missing: { python: 'no python3' } };
    expect(await codeVerifier(none, 'python').grade(row, python('x = 1'))).toEqual({
      status: 'unscored',
      code: 'no_backend',
      detail: 'no python3',
    });
  });
});

/** A copy whose methods still belong to the original. */
const bound = (of: Sandbox): Sandbox => ({
  ...of,
  run: (program) => of.run(program),
  converse: (judge, candidate) => of.converse(judge, candidate),
  canary: (language) => of.canary(language),
  close: () => of.close(),
});

describe('faults of tests', () => {
  it.each<[CodeLanguage, CodeRow['tests'], string | undefined]>([
    ['python', 'def check(candidate):\n    assert candidate(1) == 1\n', undefined],
    ['python', ['assert f(1) == 1', 'assert f(2) = 2'], 'test 2 of 2 does not parse: SyntaxError'],
    ['javascript', 'const a = require("assert"); a.equal(f(), 1);', undefined],
    ['javascript', 'assert.equal(f("a\nb"), 1)', 'test 1 of 1 does not parse: SyntaxError'],
    ['typescript', 'const wanted: number = 1; if (f() !== wanted) throw new Error();', undefined],
    ['typescript', 'const wanted: = 1;', 'test 1 of 1 does not parse'],
    ['python', [{ input: 'no JSON', output: '1' }], 'test 1 of 1: with entry_point every line'],
  ])('in %s: %j', async (language, tests, fault) => {
    const found = await testFaults(sandbox, language, { prompt: 'p', entry_point: 'f', tests });
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(fault);
  });
});

// Whole programs with input and wanted output, as LiveCodeBench has them: what counts as the same output, and that nothing but
// the output and a clean end scores.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { CodeRow } from '../../../api/contract/task.ts';
import { codeVerifier } from '../../../runner/rewards/code.ts';
import { differingLine } from '../../../runner/rewards/code/same-output.ts';
import { openSandbox } from '../../../runner/rewards/sandbox/open.ts';
import type { Sandbox } from '../../../runner/rewards/sandbox/sandbox.ts';

describe('same output', () => {
  it.each([
    ['1\n2\n', '1\n2'],
    ['1\n2', '\n 1 \r\n2  \n\n'],
    ['1.0 2', '1 2.00'],
    ['0.5', '.5'],
    ['1e3', '1000'],
    ['-0', '0'],
    ['', ' \n'],
  ])('%j and %j', (wanted, given) => {
    expect(differingLine(wanted, given)).toBeUndefined();
  });
  it.each([
    ['1\n2', '1', 2],
    ['1', '1\n2', 2],
    ['1\n2', '1 2', 1],
    ['yes', 'YES', 1],
    ['a b', 'a  b', 1],
    ['1.0', '1.0000001', 1],
    ['1', '-1', 1],
    ['10', '1', 1],
    ['1 a', '1.0 a', 1],
    ['', '0', 1],
    ['x', '', 1],
    ['NaN', 'nan', 1],
  ])('not %j and %j: line %d', (wanted, given, line) => {
    expect(differingLine(wanted, given)).toBe(line);
  });
});

describe('pairs', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openSandbox();
  });
  afterAll(() => sandbox.close());
  const grade = (row: CodeRow, code: string, language: CodeLanguage = 'python') =>
    codeVerifier(sandbox, language).grade(row, `\`\`\`${language}\n${code}\n\`\`\``);

  const sums: CodeRow = {
    prompt: 'Read n and n numbers, print their sum.',
    tests: [
      { input: '2\n1 2\n', output: '3\n' },
      { input: '0\n\n', output: '0\n' },
      { input: '3\n10 20 30', output: '60' },
    ],
  };
  const honest: Readonly<Record<CodeLanguage, string>> = {
    python: 'if __name__ == "__main__":\n    n = int(input())\n    print(sum(map(int, input().split())))',
    javascript:
      "const [, ...rest] = require('fs').readFileSync(0, 'utf8').split(/\\s+/); console.log(rest.filter(Boolean).reduce((a, b) => a + Number(b), 0));",
    typescript:
      "import { readFileSync } from 'node:fs';\nconst words: string[] = readFileSync('/dev/stdin', 'utf8').split(/\\s+/).slice(1);\nconsole.log(words.filter(Boolean).map(Number).reduce((a: number, b: number): number => a + b, 0));",
  };
  it.each(Object.entries(honest) as [CodeLanguage, string][])(
    'scores an honest program in %s',
    async (language, code) => {
      expect(await grade(sums, code, language)).toEqual({
        status: 'scored',
        value: 1,
        parts: { passed: 3, tests: 3 },
      });
    },
  );

  it('ends at the first pair that fails and names its line', async () => {
    expect(await grade(sums, 'n = int(input()); print(3 if n else 0)')).toEqual({
      status: 'scored',
      value: 0,
      parts: { passed: 2, tests: 3 },
      detail: 'test 3 of 3: line 1 of the output differs',
    });
  });

  const silent: CodeRow = { prompt: 'Print nothing.', tests: [{ input: '', output: '' }] };
  it('takes no exception for an empty output', async () => {
    expect(await grade(silent, 'pass')).toMatchObject({ status: 'scored', value: 1 });
    expect(await grade(silent, 'raise RuntimeError("x")')).toMatchObject({
      status: 'scored',
      value: 0,
      detail: 'test 1 of 1: exit code 1: RuntimeError: x',
    });
    expect(await grade(silent, 'import os; os.abort()')).toMatchObject({ status: 'scored', value: 0 });
    expect(await grade(silent, 'throw new Error("x")', 'javascript')).toMatchObject({
      status: 'scored',
      value: 0,
    });
  });

  it('takes no output with a failing end', async () => {
    expect(await grade(sums, `${honest.python}\nraise SystemExit(3)`)).toMatchObject({ value: 0 });
  });

  it.each<[string, CodeLanguage, string]>([
    ['a syntax error', 'python', 'print('],
    ['a syntax error', 'javascript', 'console.log('],
    ['a syntax error', 'typescript', 'const x: = 1'],
  ])('calls %s in %s unparsable', async (_title, language, code) => {
    expect(await grade(sums, code, language)).toMatchObject({
      status: 'invalid',
      code: 'unparsable',
      value: 0,
    });
  });

  it('ends answers that do not end, print without end or fill the memory', { timeout: 120_000 }, async () => {
    expect(await grade(sums, 'while True: pass')).toMatchObject({
      status: 'invalid',
      code: 'timeout',
      value: 0,
    });
    expect(await grade(sums, 'while True: print("x" * 65536)')).toMatchObject({ status: 'scored', value: 0 });
    expect(await grade(sums, 'x = bytearray(1 << 40)')).toMatchObject({ status: 'scored', value: 0 });
  });

  it('keeps the wanted output and the other pairs out of the sandbox', async () => {
    const secret = { prompt: 'p', tests: [{ input: 'a', output: 'the wanted word' }] };
    const search = `import glob, os
found = b''
for path in glob.glob('/tmp/**', recursive=True) + glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline') + glob.glob('/proc/self/fd/*'):
    try: found += open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 'rb').read(1 << 20)
    except OSError: pass
at = found.find(b'the wan' + b'ted')
print(found[at:at + 15].decode() if at >= 0 else 'nothing')`;
    expect(await grade(secret, search)).toMatchObject({ status: 'scored', value: 0 });
  });
});

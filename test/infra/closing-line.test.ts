// The line that CI reads, from real vitest runs of small suites: passing, failing, skipping, and broken ones
// whose failure is in no test.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
let folder: string;

beforeEach(() => {
  mkdirSync(join(root, '.test'), { recursive: true }); // inside the clone: the suite imports vitest
  folder = mkdtempSync(join(root, '.test/closing-line-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Runs one test file with the repository's reporter; gives the exit status and the last line of its output. */
function run(body: string): { status: number | null; lastLine: string | undefined } {
  writeFileSync(
    join(folder, 'some.test.ts'),
    `import { afterAll, describe, test } from 'vitest';\n${body}\n`,
  );
  const reporter = JSON.stringify(resolve(root, 'test/support/closing-line.ts'));
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `import { ClosingLine } from ${reporter};
     export default { test: { reporters: ['default', new ClosingLine()], cache: false } };`,
  );
  const { MILLRACE_TALLY_FILE: _, ...env } = process.env;
  const args = [resolve(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env });
  return { status, lastLine: stdout.trimEnd().split('\n').at(-1) };
}

const passing = "test('passes', () => {});";

test('a passing run', () => {
  expect(run(passing)).toEqual({ status: 0, lastLine: '1 passed, 0 failed' });
});

test('failures and skips', () => {
  const body = `${passing} test('fails', () => { throw new Error('x'); }); test.skip('skipped', () => {});`;
  expect(run(body)).toEqual({ status: 1, lastLine: '1 passed, 1 failed, 1 skipped' });
});

test('a file that cannot be imported is a failure', () => {
  expect(run("import './absent.ts';")).toEqual({ status: 1, lastLine: '0 passed, 1 failed' });
});

test('a failing hook is a failure', () => {
  const body = `describe('suite', () => { ${passing} afterAll(() => { throw new Error('hook'); }); });`;
  expect(run(body)).toEqual({ status: 1, lastLine: '1 passed, 1 failed' });
});

test('a rejection that nobody awaits is a failure', () => {
  const body = "test('passes', () => { void Promise.reject(new Error('stray')); });";
  expect(run(body)).toEqual({ status: 1, lastLine: '1 passed, 1 failed' });
});

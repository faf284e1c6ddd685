// The checks of `make test`, one after the other, all of them even if an early one fails: types, lint, layout, tests.
// Prints the closing line last and exits 1 if anything failed. What comes before the tests counts as one check each.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { closingLine, type Tally } from '../test/support/closing-line.ts';

const root = resolve(import.meta.dirname, '..');
const tallyFile = resolve(root, '.test/tally.json');

/** Runs a package's command in the root, its output passed on. True if it exited 0. */
function runs(name: string, script: string, args: string[], env: NodeJS.ProcessEnv = {}): boolean {
  console.log(`\n== ${name}`);
  const { status, signal } = spawnSync(process.execPath, [resolve(root, 'node_modules', script), ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (signal !== null) console.log(`${name} ended by ${signal}`);
  return status === 0;
}

function single(passed: boolean): Tally {
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 };
}

function runTests(): Tally {
  mkdirSync(resolve(root, '.test'), { recursive: true });
  rmSync(tallyFile, { force: true });
  const passed = runs('tests', 'vitest/vitest.mjs', ['run'], { MILLRACE_TALLY_FILE: tallyFile });
  try {
    const tally = JSON.parse(readFileSync(tallyFile, 'utf8')) as Tally;
    return passed || tally.failed > 0 ? tally : { ...tally, failed: 1 };
  } catch {
    return single(false); // the test run died before it could count
  }
}

const tallies = [
  single(runs('types', 'typescript/bin/tsc', ['--noEmit', '-p', '.'])),
  single(runs('lint', 'eslint/bin/eslint.js', ['.', '--max-warnings', '0'])),
  single(runs('layout', 'prettier/bin/prettier.cjs', ['--check', '.'])),
  runTests(),
];
const total = tallies.reduce((sum, tally) => ({
  passed: sum.passed + tally.passed,
  failed: sum.failed + tally.failed,
  skipped: sum.skipped + tally.skipped,
}));
console.log(closingLine(total));
process.exitCode = total.failed === 0 ? 0 : 1;

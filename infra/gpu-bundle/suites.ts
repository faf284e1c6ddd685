// The suites that run on a WebGPU device, and what of vitest's report on them is kept: counts and failures, without paths of
// the machine, so that it can be committed. A suite that ran no test counts as failed: nothing may pass by being skipped.
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface SuiteReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly suites: readonly {
    readonly file: string;
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
    readonly seconds: number;
  }[];
  /** What failed, and why. */
  readonly failures: readonly { readonly test: string; readonly message: string }[];
}

/** The part of vitest's JSON report that is read. */
interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[] | null;
    }[];
  }[];
}

/** Of the processes around it (service, store, command line) the bundle has no packages. */
const computing = 'test/{engine,cascade}/**/*.test.ts';

/** Test files of engine and cascade that ask for a WebGPU device, relative to the tree. */
export function webgpuSuites(tree: string): string[] {
  return globSync(computing, { cwd: tree })
    .filter((file) => readFileSync(join(tree, file), 'utf8').includes("support/webgpu.ts'"))
    .sort();
}

/** Reads vitest's report on `expected` (files relative to the tree). */
export function readReport(text: string, tree: string, expected: readonly string[]): SuiteReport {
  const { testResults } = JSON.parse(text) as VitestReport;
  const plain = (message: string): string => message.replaceAll(tree, '.');
  const suites = testResults.map(({ name, startTime, endTime, assertionResults }) => {
    const count = (...states: string[]): number =>
      assertionResults.filter(({ status }) => states.includes(status)).length;
    return {
      file: relative(tree, name),
      passed: count('passed'),
      failed: count('failed'),
      skipped: count('skipped', 'pending', 'todo', 'disabled'),
      seconds: Math.round(endTime - startTime) / 1000,
    };
  });
  const failures = testResults.flatMap(({ name, message, assertionResults }) => [
    ...(message === '' ? [] : [{ test: relative(tree, name), message: plain(message) }]),
    ...assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => ({
        test: fullName,
        message: plain((failureMessages ?? []).join('\n')),
      })),
  ]);
  const ran = new Set(suites.filter(({ passed }) => passed > 0).map(({ file }) => file));
  const idle = expected
    .filter((file) => !ran.has(file))
    .map((file) => ({ test: file, message: 'no test of this suite passed' }));
  const total = (key: 'passed' | 'failed' | 'skipped'): number =>
    suites.reduce((sum, suite) => sum + suite[key], 0);
  return {
    passed: total('passed'),
    failed: total('failed'),
    skipped: total('skipped'),
    suites: suites.sort((a, b) => (a.file < b.file ? -1 : 1)),
    failures: [...failures, ...idle],
  };
}

// Counts a test run and words the count as `N passed, N failed`, with `, N skipped` where there are any.
// Written to MILLRACE_TALLY_FILE when `make test` adds its own checks, else printed at the run's end.
import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function closingLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** A file or suite that broke outside its tests (import, hook) counts as one failure, as does a stray error. */
function tallyOf(modules: readonly TestModule[], strayErrors: number): Tally {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const states = tests.map((test) => test.result().state);
  const count = (...wanted: string[]): number => states.filter((state) => wanted.includes(state)).length;
  const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
  const broken = suites.filter((suite) => suite.errors().length > 0).length;
  return {
    passed: count('passed'),
    failed: count('failed') + broken + strayErrors,
    skipped: count('skipped', 'pending'),
  };
}

export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], strayErrors: readonly SerializedError[]): void {
    const tally = tallyOf(modules, strayErrors.length);
    const file = process.env['MILLRACE_TALLY_FILE'];
    if (file === undefined) console.log(closingLine(tally));
    else writeFileSync(file, JSON.stringify(tally));
  }
}

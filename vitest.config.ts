// Tests run in forked processes (native libraries, real servers), two at a time: the reference machine has
// two cores. Long acceptance runs, benches and fault runs are targets of their own, not tests.
import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    exclude: ['test/accept/**', 'test/bench/**'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    execArgv: ['--expose-gc'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ['default', new ClosingLine()],
  },
});

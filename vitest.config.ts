// Tests run in forked processes (native libraries, real servers), two at a time: the reference machine has
// two cores. Long acceptance runs, benches and fault runs are targets of their own, not tests. The project `worker` runs
// the tests of the interface once more, against the API in workerd.
import { defineConfig } from 'vitest/config';
import { contractFiles } from './test/api/contract-files.ts';
import { ClosingLine } from './test/support/closing-line.ts';

export default defineConfig({
  test: {
    environment: 'node',
    exclude: ['test/accept/**', 'test/bench/**'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    execArgv: ['--expose-gc'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ['default', new ClosingLine()],
    projects: [
      { extends: true, test: { name: 'all', include: ['test/**/*.test.ts'] } },
      {
        extends: true,
        test: { name: 'worker', include: contractFiles, env: { MILLRACE_API_TARGET: 'worker' } },
      },
    ],
  },
});

// `npm run fuzz -- --requests 20000 --seed 7`: the test of test/api/document-fuzz.test.ts, as long as is wanted.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
});
const vitest = resolve(import.meta.dirname, '../../../node_modules/vitest/vitest.mjs');
const child = spawn(process.execPath, [vitest, 'run', 'test/api/document-fuzz.test.ts'], {
  cwd: resolve(import.meta.dirname, '../../..'),
  env: { ...process.env, FUZZ_REQUESTS: values.requests, FUZZ_SEED: values.seed },
  stdio: 'inherit',
});
child.once('exit', (code) => process.exit(code ?? 1));

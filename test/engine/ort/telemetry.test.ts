// What runs here tells nobody: ONNX Runtime's own telemetry is off, in either binding.
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const entry = pathToFileURL(resolve(import.meta.dirname, '../../../runner/engine/ort/create.ts')).href;
const script = `const { createRuntime } = await import(${JSON.stringify(entry)});
createRuntime({ binding: process.argv[1] });
console.log(process.pid, process.env.ORT_DISABLE_TELEMETRY);`;

it.each(['c-api', 'onnxruntime-node'])('%s', async (binding) => {
  const { ORT_DISABLE_TELEMETRY: _, ...env } = process.env;
  const started = Date.now();
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', script, binding],
    { env },
  );
  const [pid, disabled] = stdout.trim().split(' ');
  expect(disabled).toBe('1');
  // Its telemetry opens this file before anything else. One of an older process with this number may lie there.
  const log = statSync(join('/tmp', `mat-debug-${pid}.log`), { throwIfNoEntry: false });
  expect(log?.mtimeMs ?? 0).toBeLessThan(started);
});

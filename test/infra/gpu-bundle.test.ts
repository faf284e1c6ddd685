// What `make gpu-bundle` takes of node_modules, which suites and drivers a run takes, and when its report counts as failed.
// The archive itself is built by hand (docs/gpu.md): it takes a minute.
import { existsSync, globSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isKept, limitBytes, packageFolders } from '../../infra/gpu-bundle/contents.ts';
import { driverFiles } from '../../infra/gpu-bundle/drivers.ts';
import { readReport, webgpuSuites } from '../../infra/gpu-bundle/suites.ts';
import { parseProperties } from '../../infra/gpu-bundle/vulkan-devices.ts';

const root = resolve(import.meta.dirname, '../..');
const modules = join(root, 'node_modules');

test('what it depends on comes along: direct, further on and native, and nothing of the service', () => {
  const folders = packageFolders(modules);
  expect(folders).toEqual(
    expect.arrayContaining(['koffi', 'onnxruntime-node', 'protobufjs', 'rolldown', 'vite', 'vitest', 'zod']),
  );
  expect(
    folders.filter((folder) => /aws-sdk|postgres|wrangler|lightningcss|typescript/.test(folder)),
  ).toEqual([]);
  expect(() => packageFolders(modules, ['no-such-package'])).toThrow('no-such-package is not installed');
});

test.runIf(process.platform === 'linux' && process.arch === 'x64')(
  'what is kept of them is the libraries that run here, and fits beside Node',
  () => {
    const kept = packageFolders(modules).flatMap((folder) =>
      globSync('**/*', { cwd: join(modules, folder) })
        .map((file) => join(folder, file))
        .filter((path) => isKept(path) && statSync(join(modules, path)).isFile()),
    );
    const natives = kept.filter((path) => /\.node$|\.so(\.\d+)*$/.test(path)).sort();
    expect(natives).toEqual([
      '@koromix/koffi-linux-x64/linux_x64/koffi.node',
      '@rolldown/binding-linux-x64-gnu/rolldown-binding.linux-x64-gnu.node',
      'onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1',
    ]);
    expect(kept).toContain('vitest/vitest.mjs');
    expect(kept.filter((path) => /\.map$|\.d\.[cm]?ts$/.test(path))).toEqual([]);
    // xz takes these to about 0.29 of their size, Node to 30 MB of 125.
    const bytes = kept.reduce((sum, path) => sum + statSync(join(modules, path)).size, 0);
    expect(bytes).toBeLessThan((limitBytes - 32e6) / 0.32);
  },
);

test.each([
  ['zod/LICENSE', true],
  ['zod/v4/core/index.js', true],
  ['koffi/src/koffi/index.cjs', true],
  ['koffi/src/koffi/src/ffi.cc', false],
  ['onnxruntime-node/package.json', true],
  ['onnxruntime-node/bin/napi-v6/win32/x64/onnxruntime.dll', false],
  ['onnxruntime-node/bin/napi-v6/linux/arm64/libonnxruntime.so.1', false],
  ['@koromix/koffi-linux-x64/musl_x64/koffi.node', false],
  ['vite/dist/node/index.d.ts', false],
])('%s: kept %s', (path, kept) => expect(isKept(path)).toBe(kept));

test('the suites are those that ask for a WebGPU device', () => {
  const suites = webgpuSuites(root);
  expect(suites).toEqual(
    expect.arrayContaining([
      'test/cascade/webgpu.test.ts',
      'test/engine/learner/webgpu.test.ts',
      'test/engine/ops/webgpu-ops.test.ts',
      'test/engine/ort/webgpu.test.ts',
      'test/engine/sampler/webgpu.test.ts',
    ]),
  );
  expect(suites).not.toContain('test/engine/ops/ops.test.ts');
  expect(suites).not.toContain('test/e2e/webgpu.test.ts');
});

test('a report: counts and failures without paths of the machine; a suite that only skipped is a failure', () => {
  const result = (name: string, tests: object[]): object => ({
    name: `/somewhere/tree/${name}`,
    startTime: 1000,
    endTime: 2500,
    message: '',
    assertionResults: tests,
  });
  const text = JSON.stringify({
    testResults: [
      result('test/b.test.ts', [{ fullName: 'b', status: 'skipped', failureMessages: [] }]),
      result('test/a.test.ts', [
        { fullName: 'a holds', status: 'passed', failureMessages: [] },
        {
          fullName: 'a breaks',
          status: 'failed',
          failureMessages: ['Error at /somewhere/tree/test/a.test.ts:1'],
        },
      ]),
    ],
  });
  expect(readReport(text, '/somewhere/tree', ['test/a.test.ts', 'test/b.test.ts'])).toEqual({
    passed: 1,
    failed: 1,
    skipped: 1,
    suites: [
      { file: 'test/a.test.ts', passed: 1, failed: 1, skipped: 0, seconds: 1.5 },
      { file: 'test/b.test.ts', passed: 0, failed: 0, skipped: 1, seconds: 1.5 },
    ],
    failures: [
      { test: 'a breaks', message: 'Error at ./test/a.test.ts:1' },
      { test: 'test/b.test.ts', message: 'no test of this suite passed' },
    ],
  });
});

test('drivers: those of the environment, else those of the folders, in order', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-icd-'));
  try {
    for (const name of ['radeon.json', 'intel.json', 'readme.txt']) writeFileSync(join(folder, name), '{}');
    const found = ['intel.json', 'radeon.json'].map((name) => join(folder, name));
    expect(driverFiles({}, [folder])).toEqual(found);
    expect(driverFiles({ VK_DRIVER_FILES: '/a.json:/b.json' }, [folder])).toEqual(['/a.json', '/b.json']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a device's name, kind and versions are read from Vulkan's properties", () => {
  const bytes = Buffer.alloc(512);
  [(1 << 22) | (3 << 12) | 275, 7, 0x10de, 0x2335, 2].forEach((word, i) => bytes.writeUInt32LE(word, 4 * i));
  bytes.write('A GPU', 20);
  expect(parseProperties(bytes)).toEqual({
    name: 'A GPU',
    type: 'discrete',
    vendor: '10de',
    device: '2335',
    driverVersion: 7,
    apiVersion: '1.3.275',
  });
});

test('the files that the bundle starts with are there', () => {
  for (const file of ['run-gpu.sh', 'run.ts', 'nvidia-icd.json'])
    expect(existsSync(join(root, 'infra/gpu-bundle', file)), file).toBe(true);
});

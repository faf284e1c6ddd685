// What run-gpu.sh starts in an unpacked bundle: chooses a Vulkan loader and drivers, names the device, runs the WebGPU suites
// and the engine bench on it, and writes results/. Ends 0 if all passed, 1 if something failed, 2 on wrong use, 3 if
// there is no device to run on.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseVulkan, type VulkanChoice } from './drivers.ts';
import { readReport, webgpuSuites, type SuiteReport } from './suites.ts';
import { vulkanDevices, type VulkanDevice } from './vulkan-devices.ts';

const usage = `usage: run-gpu.sh [--swiftshader] [--small] [--results DIR]
  --swiftshader   run on the bundled Vulkan driver that computes on the CPU: tries the bundle, not a GPU
  --small         bench models that a slow device bears (with --swiftshader always)
  --results DIR   where to write, by default results/ beside run-gpu.sh
Takes the system's Vulkan drivers, or those that VK_DRIVER_FILES names.
Exit status: 0 all passed, 1 something failed, 2 wrong use, 3 no Vulkan device that can be used`;

const tree = resolve(import.meta.dirname, '../..');

function refuse(reason: string): never {
  console.error(`no GPU to run on: ${reason}`);
  process.exit(3);
}

/** Puts the choice into the environment of this process and its children. */
function findDevices(choice: VulkanChoice, software: boolean): VulkanDevice[] {
  Object.assign(process.env, choice);
  const drivers = choice.VK_DRIVER_FILES;
  const devices = vulkanDevices(choice.MILLRACE_VULKAN_LOADER);
  if (devices.length === 0)
    refuse(
      drivers === '/nowhere'
        ? 'no Vulkan driver is installed (no file in vulkan/icd.d of /etc, /usr/share or /usr/local/share). Install the ' +
            "driver of your GPU with its Vulkan part (in containers of NVIDIA's: NVIDIA_DRIVER_CAPABILITIES=graphics,compute,utility), or name its file by VK_DRIVER_FILES"
        : `the Vulkan drivers of ${drivers} offer no device here (for an NVIDIA driver: libGLX_nvidia.so.0 and /dev/nvidia* must be there; for Mesa: /dev/dri)`,
    );
  if (!software && devices.every(({ type }) => type === 'cpu'))
    refuse(
      `the only Vulkan device is ${devices[0]!.name}, which computes on the CPU. To try the bundle without a GPU: --swiftshader`,
    );
  return devices;
}

function probeWebgpu(): void {
  const { status, output } = node(['infra/gpu-bundle/probe.ts'], 'output');
  if (status !== 0) refuse(output.trim() || `WebGPU does not start (status ${status})`);
}

/** Runs Node on `args` in the tree; its output goes to standard error, unless it is wanted. */
function node(args: string[], wanted: 'output' | 'status'): { status: number | null; output: string } {
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: tree,
    stdio: ['ignore', wanted === 'output' ? 'pipe' : 2, 2],
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  return { status, output: stdout ?? '' };
}

function runSuites(results: string): SuiteReport {
  const suites = webgpuSuites(tree);
  const raw = join(results, 'vitest.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${raw}`];
  // One after the other: they share one device. What they compute is tested, not how long a slow device takes for it.
  const patience = ['--testTimeout=600000', '--hookTimeout=600000'];
  const { status } = node(
    ['node_modules/vitest/vitest.mjs', 'run', '--maxWorkers=1', ...patience, ...reporters, ...suites],
    'status',
  );
  const report = readReport(readFileSync(raw, 'utf8'), tree, suites);
  rmSync(raw);
  return status !== 0 && report.failures.length === 0
    ? { ...report, failures: [{ test: 'vitest', message: `ended with status ${status}` }] }
    : report;
}

function runBench(small: boolean): string | undefined {
  const args = ['--expose-gc', 'test/bench/main.ts', 'engine', '--provider', 'webgpu', '--json'];
  const { status, output } = node(small ? [...args, '--small'] : args, 'output');
  return status === 0 ? output : undefined;
}

const nvidiaVersion = (): string | null => {
  try {
    return readFileSync('/proc/driver/nvidia/version', 'utf8').trim();
  } catch {
    return null;
  }
};

const [bundle = '', ...rest] = process.argv.slice(2);
const parsed = (() => {
  try {
    return parseArgs({
      args: rest,
      options: {
        swiftshader: { type: 'boolean', default: false },
        small: { type: 'boolean', default: false },
        results: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    return process.exit(2);
  }
})();
if (parsed.help) {
  console.log(usage);
  process.exit(0);
}
const software = parsed.swiftshader;
const results = resolve(parsed.results ?? join(bundle, 'results'));
const choice = chooseVulkan(process.env, { vulkan: join(bundle, 'vulkan'), software });
const devices = findDevices(choice, software);
probeWebgpu();
mkdirSync(results, { recursive: true });
const write = (name: string, value: unknown): void =>
  writeFileSync(join(results, name), `${JSON.stringify(value, null, 2)}\n`);

console.error(`device: ${devices.map(({ name, type }) => `${name} (${type})`).join('; ')}`);
write('device.json', {
  schema: 1,
  commit: readFileSync(join(tree, 'COMMIT'), 'utf8').trim(),
  date: new Date().toISOString(),
  devices,
  nvidia: nvidiaVersion(),
  loader: choice.MILLRACE_VULKAN_LOADER.startsWith(bundle) ? 'bundled' : choice.MILLRACE_VULKAN_LOADER,
  drivers: choice.VK_DRIVER_FILES.replaceAll(bundle, '.').split(':'),
  host: {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    kernel: release(),
  },
});

const report = runSuites(results);
write('suites.json', report);
for (const { test, message } of report.failures)
  console.error(`FAILED ${test}: ${message.split('\n', 1)[0]}`);
const bench = runBench(software || parsed.small);
if (bench !== undefined) writeFileSync(join(results, 'engine-webgpu.json'), bench);
const passed = report.failures.length === 0 && bench !== undefined;
console.log(
  `${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped; engine bench ${bench === undefined ? 'failed' : 'ran'}; see ${results}`,
);
process.exitCode = passed ? 0 : 1;

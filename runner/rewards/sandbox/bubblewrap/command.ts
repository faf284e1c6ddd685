// The command line of one sandbox: bubblewrap's flags, the kernel's limits, the interpreter. Each flag that keeps something
// out has an attack in the tests.
import type { Limits } from '../sandbox.ts';
import { PYTHON } from './requirements.ts';
import type { Scratch } from './scratch.ts';

/** Python, or Node.js for JavaScript and TypeScript. */
export type Runtime = 'python' | 'node';

/** The place in the child's list of descriptors where the filter of system calls is. */
export const FILTER_DESCRIPTOR = 5;

const TMP_BYTES = 64 * 2 ** 20;
const SHARED_MEMORY_BYTES = 16 * 2 ** 20;

const isolation = [
  ...['--unshare-user', '--unshare-all', '--disable-userns', '--die-with-parent', '--new-session'],
  ...['--cap-drop', 'ALL', '--hostname', 'sandbox', '--seccomp', String(FILTER_DESCRIPTOR)],
];

/** Everything that can be written to is a tmpfs with a size; `/` and `/dev` are tmpfs without one, so they are not. */
const files = [
  ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
  ...['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev'],
  ...[
    '--size',
    String(TMP_BYTES),
    '--tmpfs',
    '/tmp',
    '--size',
    String(SHARED_MEMORY_BYTES),
    '--tmpfs',
    '/dev/shm',
  ],
];
const closing = ['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/tmp', '--clearenv'];

/** The same hashes in every run, so that the order of a set does not decide a reward. */
const environment = { PATH: '/usr/bin', HOME: '/tmp', LANG: 'C.UTF-8', PYTHONHASHSEED: '0' };

/** Node.js reserves far more addresses than it uses, so its memory is watched instead (usage.ts). */
const kernelLimits = (limits: Limits, runtime: Runtime): string[] => [
  ...(runtime === 'python' ? [`--as=${limits.memoryBytes}`] : []),
  `--cpu=${Math.ceil(limits.cpuSeconds)}:${Math.ceil(limits.cpuSeconds) + 1}`,
  `--fsize=${limits.fileBytes}`,
  `--nproc=${limits.processes}`,
  `--nofile=${limits.openFiles}`,
  '--core=0',
];

const interpreters: Readonly<Record<Runtime, (limits: Limits) => string[]>> = {
  python: () => [PYTHON, '-s', '-S', '-B', '-X', 'utf8', '/opt/boot.py'],
  node: ({ memoryBytes }) => [
    '/opt/node',
    `--max-old-space-size=${Math.floor((memoryBytes / 2 ** 20) * 0.75)}`,
    '--no-warnings',
    '/opt/boot.mjs',
  ],
};

const mounts = (scratch: Scratch, runtime: Runtime): string[] =>
  runtime === 'python'
    ? ['--ro-bind', scratch.pythonBoot, '/opt/boot.py']
    : ['--ro-bind', scratch.nodeBoot, '/opt/boot.mjs', '--ro-bind', scratch.node, '/opt/node'];

export function sandboxCommand(scratch: Scratch, runtime: Runtime, limits: Limits): string[] {
  const variables = Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]);
  return [
    ...['bwrap', ...isolation, ...files, ...mounts(scratch, runtime), ...closing, ...variables, '--'],
    ...['prlimit', ...kernelLimits(limits, runtime), '--', ...interpreters[runtime](limits)],
  ];
}

// What a sandbox uses with all its processes, read from /proc outside of it: limits of the kernel (rlimits) hold for one
// process each, and 64 processes of 512 MiB are too many. Processes that come and go between two looks are missed;
// their CPU time is not, once somebody has waited for them.
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

export interface Usage {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

/** USER_HZ is 100 on every architecture of Linux that we run on. */
const TICKS_PER_SECOND = 100;

const textOf = (path: string): Promise<string> => readFile(path, 'latin1').catch(() => '');

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => textOf(`/proc/${pid}/task/${thread}/children`)));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

/** User and system time, its own and that of children it has waited for: fields 14 to 17 of proc_pid_stat(5). */
function cpuSeconds(stat: string): number {
  return ticks(stat, 11, 15) / TICKS_PER_SECOND;
}

/** Of the fields after the command's name. */
function ticks(stat: string, from: number, to: number): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(from, to).reduce((sum, field) => sum + Number(field), 0);
}

/** What belongs to it alone: pages that a fork shares with its parent are counted in each until they are written. */
function memoryBytes(status: string): number {
  const kibibytes = [...status.matchAll(/^(?:RssAnon|RssShmem):\s+(\d+) kB$/gm)].map(([, number]) =>
    Number(number),
  );
  return kibibytes.reduce((sum, number) => sum + number * 1024, 0);
}

async function ofProcess(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([textOf(`/proc/${pid}/stat`), textOf(`/proc/${pid}/status`)]);
  return { cpuSeconds: stat === '' ? 0 : cpuSeconds(stat), memoryBytes: memoryBytes(status) };
}

export async function processTree(root: number): Promise<number[]> {
  const children = await childrenOf(root);
  const below = await Promise.all(children.map(processTree));
  return [root, ...below.flat()];
}

export async function usageOf(root: number): Promise<Usage> {
  const usages = await Promise.all((await processTree(root)).map(ofProcess));
  return usages.reduce((sum, usage) => ({
    cpuSeconds: sum.cpuSeconds + usage.cpuSeconds,
    memoryBytes: sum.memoryBytes + usage.memoryBytes,
  }));
}

/** Read at once: for the moment before a signal. Empty where there is none. */
function nowAt(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Of its first thread, which starts all processes of a sandbox that we know. */
export const childrenNow = (pid: number): number[] =>
  nowAt(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);

function threadsNow(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Nanoseconds of living threads by the scheduler, hundredths of a second of all: a small program takes a few of these. */
function processSecondsNow(pid: number): number {
  const stat = nowAt(`/proc/${pid}/stat`);
  if (stat === '') return 0;
  const threads = threadsNow(pid).map((thread) =>
    Number(nowAt(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]),
  );
  const own = Math.max(
    ticks(stat, 11, 13) / TICKS_PER_SECOND,
    threads.reduce((sum, ns) => sum + ns, 0) / 1e9,
  );
  return own + ticks(stat, 13, 15) / TICKS_PER_SECOND;
}

/** CPU time of a process and all below it that still run, with those that these have waited for. */
export const treeSecondsNow = (root: number): number =>
  processSecondsNow(root) + childrenNow(root).reduce((sum, pid) => sum + treeSecondsNow(pid), 0);

/** CPU time of the children of this process that have ended, with what they have waited for; 0 where there is no /proc. */
export function endedChildrenSeconds(): number {
  const stat = nowAt('/proc/self/stat');
  return stat === '' ? 0 : ticks(stat, 13, 15) / TICKS_PER_SECOND;
}

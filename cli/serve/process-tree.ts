// Processes as the operating system knows them: who is alive, who descends from whom, and how to end a whole tree.
// A process id is used again after its process is gone, so an identity is the id with the time of its start.
// Start times and parents are read from /proc: elsewhere than on Linux only the id counts, and trees are one process.
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after the machine's start; null where the system does not tell. */
  readonly started: number | null;
}

interface Stat {
  readonly state: string;
  readonly parent: number;
  readonly started: number;
}

const pollMs = 20;

export const identityOf = (pid: number): ProcessIdentity => ({ pid, started: statOf(pid)?.started ?? null });

/** False for a process that has ended, though its parent may not have taken notice yet. */
export function isAlive({ pid, started }: ProcessIdentity): boolean {
  const stat = statOf(pid);
  if (stat !== undefined)
    return stat.state !== 'Z' && stat.state !== 'X' && (started === null || stat.started === started);
  return process.platform !== 'linux' && signal(pid, 0);
}

/** The process and all that descend from it now. */
export function treeOf(root: ProcessIdentity): ProcessIdentity[] {
  if (!isAlive(root)) return [];
  const children = new Map<number, ProcessIdentity[]>();
  for (const pid of allPids()) {
    const stat = statOf(pid);
    if (stat === undefined) continue;
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), { pid, started: stat.started }]);
  }
  const tree = [root];
  for (let at = 0; at < tree.length; at += 1) tree.push(...(children.get(tree[at]!.pid) ?? []));
  return tree;
}

/**
 * Asks the root to end (SIGTERM), waits until every process of its tree is gone, and kills what is left after `graceMs`
 * or as soon as `now` is aborted. Resolves when none is left; false where something had to be killed.
 */
export async function endTree(root: ProcessIdentity, graceMs: number, now?: AbortSignal): Promise<boolean> {
  const tree = treeOf(root);
  if (isAlive(root)) signal(root.pid, 'SIGTERM');
  const deadline = performance.now() + graceMs;
  while (tree.some(isAlive)) {
    if (performance.now() > deadline || now?.aborted === true) {
      await kill([...tree, ...tree.flatMap(treeOf)]);
      return false;
    }
    await delay(pollMs);
  }
  return true;
}

async function kill(processes: readonly ProcessIdentity[]): Promise<void> {
  for (const one of processes) if (isAlive(one)) signal(one.pid, 'SIGKILL');
  while (processes.some(isAlive)) await delay(pollMs);
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  // 0, -1 and 1 name groups, everything, and init: never a process that we started.
  if (pid <= 1) return false;
  try {
    return process.kill(pid, name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    if (code === 'EPERM') return true;
    throw error;
  }
}

const allPids = (): number[] =>
  process.platform === 'linux' ? readdirSync('/proc').map(Number).filter(Number.isInteger) : [];

/** Fields 3, 4 and 22 of /proc/PID/stat; the name before them may hold anything. */
function statOf(pid: number): Stat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', parent: Number(fields[1]), started: Number(fields[19]) };
}

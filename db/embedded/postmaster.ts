// The server process as its pid file names it: is it alive, is it ours, has it gone. Works for a
// server that a former run left behind as well as for our own child.
import { readFileSync } from 'node:fs';
import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface Postmaster {
  pid: number;
  port: number;
}

/** The live server of this cluster; removes a pid file whose process is not one. */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const path = join(cluster, 'postmaster.pid');
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (isAlive(pid) && (await servesCluster(pid, cluster))) return { pid, port: Number(lines[3]) };
  // Postgres itself refuses to start when the number was given to another process since.
  await rm(path, { force: true });
  return undefined;
}

/**
 * Ends the server: fast shutdown (sessions are cut, data is flushed), and harder after each
 * `patienceMs`. Returns when no server process is left.
 */
export async function stopPostmaster(cluster: string, pid: number, patienceMs = 15_000): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!sendSignal(pid, signal)) return;
    if (await gone(cluster, pid, patienceMs)) return;
  }
  throw new Error(`the Postgres server of ${cluster} (process ${pid}) does not end, not even by SIGKILL`);
}

/** True once the process is gone, false after `patienceMs`. */
export async function gone(cluster: string, pid: number, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (isAlive(pid) && (await servesCluster(pid, cluster))) {
    if (performance.now() > deadline) return false;
    await delay(20);
  }
  return true;
}

/** False for a zombie: it has ended, only nobody has asked for its exit code. */
export function isAlive(pid: number): boolean {
  return sendSignal(pid, 0) && !isZombie(pid);
}

function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    // pid (command) state …; the command may hold anything, also parentheses.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.startsWith('Z') ?? false;
  } catch {
    return false;
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (!Number.isInteger(pid) || pid <= 1) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

// A postmaster's working directory is its data directory; a zombie has none. Where there is no
// /proc the pid file is believed, and a failed connection says the rest.
async function servesCluster(pid: number, cluster: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return cwd !== undefined && cwd === (await realpath(cluster));
}

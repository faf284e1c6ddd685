// Forking and ending child processes of ours. Each leads a process group of its own: a signal to the group reaches
// everything it started, and the terminal's Ctrl-C reaches only the supervisor, who decides.
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

export interface ForkOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Whether stdout and stderr come to us, or go where ours go. */
  readonly output: 'pipe' | 'inherit';
}

export function forkChild(entry: string, { env, output }: ForkOptions): ChildProcess {
  return fork(entry, [], {
    detached: true,
    env,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', output, output, 'ipc'],
  });
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The process could not be started at all. */
  readonly error?: Error;
}

/** How long output may lag behind the exit, where a grandchild holds the pipe open. */
const lastOutputMs = 1_000;

/** Resolves once the process is gone and its last messages and output have been read. */
export async function exitOf(child: ChildProcess): Promise<Exit> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const disconnected = new Promise<void>((resolve) => {
    if (child.connected) child.once('disconnect', resolve);
    else resolve();
  });
  const exit = await new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
  });
  signalGroup(child, 'SIGKILL'); // what it left behind
  await Promise.race([Promise.all([closed, disconnected]), delay(lastOutputMs, undefined, { ref: false })]);
  return exit;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Ends the whole group, politely for `graceMs`. Resolves when the process is gone. */
export async function endChild(
  child: ChildProcess,
  exited: Promise<unknown>,
  graceMs: number,
): Promise<void> {
  signalGroup(child, 'SIGTERM');
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
  await exited;
  clearTimeout(timer);
}

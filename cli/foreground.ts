// Runs one of our entries in the foreground, as if the user had started it: its output is ours, and so is its end.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

/** `entry` is relative to the repository. Resolves with the exit code; 128 and more: ended by a signal, as shells say. */
export async function runForeground(
  entry: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  interrupt: AbortSignal,
  hurry?: AbortSignal,
): Promise<number> {
  // A group of its own: it gets one signal from us, not a second one from the terminal.
  const child = spawn(process.execPath, [resolve(root, entry), ...args], {
    env,
    detached: true,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const stop = (): void => void child.kill('SIGTERM');
  interrupt.addEventListener('abort', stop, { once: true });
  hurry?.addEventListener('abort', stop, { once: true });
  if (interrupt.aborted) stop();
  const code = await new Promise<number>((done, fail) => {
    child.once('exit', (exit) => done(exit ?? 128));
    child.once('error', fail);
  });
  interrupt.removeEventListener('abort', stop);
  hurry?.removeEventListener('abort', stop);
  return code;
}

/**
 * `runForeground` for an entry that reads the terminal: it shares our process group, so Ctrl-C reaches it by itself and is its own
 * to act on; only other signals are passed on, and the second of any.
 */
export async function runOnTerminal(
  entry: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  interrupt: AbortSignal,
  hurry: AbortSignal,
): Promise<number> {
  const child = spawn(process.execPath, [resolve(root, entry), ...args], { env, stdio: 'inherit' });
  const stop = (): void => void child.kill('SIGTERM');
  const pass = (): void => {
    if (!/SIGINT/.test(String(interrupt.reason))) stop();
  };
  interrupt.addEventListener('abort', pass, { once: true });
  hurry.addEventListener('abort', stop, { once: true });
  return new Promise<number>((done, fail) => {
    child.once('exit', (exit) => done(exit ?? 128));
    child.once('error', fail);
  });
}

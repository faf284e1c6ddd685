// Runs the command as a user would: as a process, from outside the repository.
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';

export const cliEntry = resolve(import.meta.dirname, '../../cli/millrace.ts');

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `env` is added to this process's own, without its MILLRACE_ settings. */
export function runCli(
  words: readonly string[],
  env: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<CliResult> {
  return new Promise((done) => {
    const options = { env: { ...cleanEnv(), ...env }, cwd: tmpdir(), ...(signal && { signal }) };
    execFile(process.execPath, [cliEntry, ...words], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      done({ code, stdout, stderr });
    });
  });
}

/** What a test's own environment says about services must not reach the command. */
export function cleanEnv(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(MILLRACE_|S3_|AWS_|DATABASE_URL$|STORE_URL$|VITEST|NODE_OPTIONS$)/.test(name),
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

// `millrace serve` as a process of the tests.
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { delimiter } from 'node:path';
import { createInterface } from 'node:readline';
import { cleanEnv, cliEntry } from '../cli/run-cli.ts';
import { testDataDir } from './test-data.ts';

/** Where the tests keep their models. */
const roots = [tmpdir(), ...(testDataDir === undefined ? [] : [testDataDir])].join(delimiter);

/** Tests poll without pause. */
const unlimited = { MILLRACE_REQUESTS_PER_MINUTE: '1000000', MILLRACE_REQUEST_BURST: '1000000' };

export interface Serve {
  readonly pid: number;
  readonly url: string;
  /** All that it has printed. */
  readonly output: readonly string[];
  /** SIGTERM; resolves with the exit code when it has ended, null where a signal ended it. */
  stop(): Promise<number | null>;
}

/** Resolves when it listens. `env` is added to a clean environment. */
export async function startServe(
  dataDir: string,
  { env = {}, flags = [] }: { env?: Record<string, string>; flags?: readonly string[] } = {},
): Promise<Serve> {
  const child = spawn(process.execPath, [cliEntry, 'serve', '--port', '0', '--data-dir', dataDir, ...flags], {
    env: { ...cleanEnv(), ...unlimited, MILLRACE_MODEL_ROOTS: roots, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const exited = new Promise<number | null>((done) => child.once('exit', done));
  const url = await new Promise<string>((done, fail) => {
    const read = (line: string): void => {
      output.push(line);
      const found = /^millrace listens on (.+)$/.exec(line)?.[1];
      if (found !== undefined) done(found);
    };
    createInterface({ input: child.stdout }).on('line', read);
    createInterface({ input: child.stderr }).on('line', read);
    void exited.then((code) => fail(new Error(`serve ended with ${code}: ${output.join('\n')}`)));
  });
  return {
    pid: child.pid!,
    url,
    output,
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

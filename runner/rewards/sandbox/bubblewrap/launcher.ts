// Our side of the process that starts sandboxes (launcher-main.ts).
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { down } from '../executor.ts';
import type { Limits } from '../sandbox.ts';
import type { Programs, Reply, Request, Runs } from './launcher-messages.ts';
import { COMMAND_PATH } from './requirements.ts';

const entry = join(import.meta.dirname, 'launcher-main.ts');

export class Launcher {
  /** Also where it could not be started. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  /** What to do with the runs, by the number of the request. */
  readonly #waiting = new Map<number, (runs: Runs<Programs> | undefined) => void>();
  #requests = 0;
  #cpuSeconds = 0;
  /** Why it has ended. */
  #end: string | undefined;

  /** `limits`: as of the interpreters that wait. */
  constructor(limits: Limits) {
    this.#child = fork(entry, [], {
      // Of ours nothing: the less it has, the less there is to guard.
      env: { PATH: COMMAND_PATH, TMPDIR: tmpdir() },
      execArgv: ['--disable-warning=ExperimentalWarning'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child.on('message', (reply: Reply) => {
      this.#cpuSeconds = reply.cpuSeconds;
      this.#waiting.get(reply.id)?.(reply.runs);
      this.#waiting.delete(reply.id);
    });
    this.ended = endOf(this.#child).then((why) => {
      this.#end = why;
      for (const lost of this.#waiting.values()) lost(undefined);
      this.#waiting.clear();
    });
    this.#tell({ ask: 'open', limits });
  }

  get alive(): boolean {
    return this.#end === undefined && this.#child.connected;
  }

  /** Core-seconds of all that it started and of itself, as of its last reply. */
  get cpuSeconds(): number {
    return this.#cpuSeconds;
  }

  async run<P extends Programs>(programs: P): Promise<Runs<P>> {
    const id = this.#requests++;
    const runs = await new Promise<Runs<Programs> | undefined>((resolve) => {
      if (this.#end !== undefined) return resolve(undefined);
      this.#waiting.set(id, resolve);
      this.#tell({ ask: 'run', id, programs });
    });
    return (runs ?? programs.map(() => down(this.#end))) as Runs<P>;
  }

  /** What runs is stopped. Resolves when all of it is gone. */
  async close(): Promise<void> {
    this.#tell({ ask: 'close' });
    await this.ended;
  }

  #tell(request: Request): void {
    // One that cannot be told is about to end, which `ended` says.
    if (this.#child.connected) this.#child.send(request, () => {});
  }
}

/** Why: for who reads it as the cause of a run that was not made. */
const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => {
      if (child.pid === undefined) resolve(`the launcher of sandboxes did not start: ${error.message}`);
    });
    // After its last messages: `exit` may come before them.
    child.once('close', (code, signal) =>
      resolve(`the launcher of sandboxes ended (${signal ?? `status ${code}`}), and this run with it`),
    );
  });

// One sandbox with an interpreter in it that waits for its program. Good for one run; ended by killing the namespace.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import type { Duplex, Readable } from 'node:stream';
import type { Limits } from '../sandbox.ts';
import type { Runtime } from './command.ts';
import { sandboxCommand } from './command.ts';
import type { Identities } from './identity.ts';
import { COMMAND_PATH } from './requirements.ts';
import type { Scratch } from './scratch.ts';
import { childrenNow, treeSecondsNow } from './usage.ts';

/** A busy machine may take its time; one that takes longer is broken. */
const START_MILLISECONDS = 30_000;
/** After the last process has gone nothing can hold a stream open; this is for what we did not think of. */
const CLOSE_MILLISECONDS = 5_000;
const KEPT_COMPLAINT = 2_000;
/** Between looks at least so long, and so many times as long as the last one took: a program may have 64 processes, and talk much. */
const LOOK_APART = { milliseconds: 5, times: 20 };

export interface Exit {
  /** The program's exit status, 128 + number where a signal ended it. Null: bubblewrap itself was killed. */
  readonly code: number | null;
}

export class Interpreter {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Descriptor 3: the program goes in, the report comes out. */
  readonly control: Duplex;
  /** Descriptor 4. */
  readonly peer: Duplex;
  readonly input: FileHandle;
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  #alive = true;
  #seconds = 0;
  #nextLook = 0;

  private constructor(child: ChildProcess, input: FileHandle) {
    const [, stdout, stderr, control, peer] = child.stdio;
    this.#child = child;
    this.pid = child.pid as number;
    this.stdout = stdout as Readable;
    this.stderr = stderr as Readable;
    this.control = control as unknown as Duplex;
    this.peer = peer as unknown as Duplex;
    this.input = input;
    // A sandbox may go while we write to it.
    for (const stream of [this.stdout, this.stderr, this.control, this.peer]) stream.on('error', () => {});
    this.exited = exitOf(child).finally(() => input.close());
    child.once('exit', () => (this.#alive = false));
    // A signal that could not be sent: it has gone.
    child.on('error', () => {});
  }

  /** Resolves once the interpreter waits for its program; fails with what bubblewrap or the interpreter said. */
  static async start(
    scratch: Scratch,
    identities: Identities,
    runtime: Runtime,
    limits: Limits,
  ): Promise<Interpreter> {
    const words = [...identities.next(), ...sandboxCommand(scratch, runtime, limits)];
    const interpreter = await Interpreter.#spawn(scratch, words);
    await interpreter.#ready();
    return interpreter;
  }

  static async #spawn(scratch: Scratch, [command = '', ...words]: readonly string[]): Promise<Interpreter> {
    const input = await scratch.openInput();
    let filter: FileHandle | undefined;
    try {
      filter = await scratch.openFilter();
      const child = spawn(command, words, {
        stdio: [input.read.fd, 'pipe', 'pipe', 'pipe', 'pipe', filter.fd],
        // The first process of a sandbox shows its environment to the others, whatever --clearenv says.
        env: { PATH: COMMAND_PATH },
        cwd: '/',
      });
      // Listened to before anything else is waited for: it may say at once that it did not start, or end at once.
      if (child.pid === undefined) throw await new Promise<Error>((resolve) => child.once('error', resolve));
      return new Interpreter(child, input.write);
    } catch (cause) {
      await input.write.close();
      throw cause;
    } finally {
      await Promise.all([input.read.close(), filter?.close()]);
    }
  }

  get alive(): boolean {
    return this.#alive;
  }

  /**
   * CPU time of what bubblewrap started, as far as somebody looked: it ends without waiting for its first child, so the kernel adds the
   * time of that one to nobody's. What a program computes after the last look is missing.
   */
  get seconds(): number {
    return this.#seconds;
  }

  /** Before it may end: when it has said something, and now and then. */
  look(): void {
    const now = performance.now();
    if (now < this.#nextLook) return;
    this.#look(childrenNow(this.pid));
    const took = performance.now() - now;
    this.#nextLook = now + Math.max(LOOK_APART.milliseconds, LOOK_APART.times * took);
  }

  #look(namespaces: readonly number[]): void {
    this.#seconds = Math.max(
      this.#seconds,
      namespaces.reduce((sum, pid) => sum + treeSecondsNow(pid), 0),
    );
  }

  /** Everything in the sandbox, also where bubblewrap had no time yet to tie it to its own life. */
  kill(): void {
    if (!this.#alive) return;
    const namespaces = childrenNow(this.pid);
    this.#look(namespaces);
    this.#child.kill('SIGKILL');
    for (const pid of namespaces) killIfThere(pid);
  }

  async #ready(): Promise<void> {
    let complaint = '';
    const onComplaint = (chunk: Buffer) =>
      (complaint = (complaint + chunk.toString()).slice(0, KEPT_COMPLAINT));
    this.stderr.on('data', onComplaint);
    const timer = setTimeout(() => this.kill(), START_MILLISECONDS);
    const sign = new Promise<true>((resolve) => this.control.once('data', () => resolve(true)));
    const ready = await Promise.race([sign, this.exited.then(() => false)]);
    clearTimeout(timer);
    this.stderr.pause().off('data', onComplaint);
    this.control.pause();
    if (!ready) throw new Error(complaint.trim() || `no sign of life within ${START_MILLISECONDS / 1000} s`);
  }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      const timer = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, CLOSE_MILLISECONDS);
      child.once('close', () => {
        clearTimeout(timer);
        resolve({ code });
      });
    });
  });
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone with bubblewrap.
  }
}

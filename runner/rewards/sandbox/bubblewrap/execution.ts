// One program in one sandbox, from handing it over to the last process gone, and what it came to.
import { setTimeout as wait } from 'node:timers/promises';
import { Capture } from '../capture.ts';
import type { LimitedProgram } from '../executor.ts';
import { down } from '../executor.ts';
import type { Limits, Output, Run, StoppedBy } from '../sandbox.ts';
import type { Exit, Interpreter } from './interpreter.ts';
import { usageOf } from './usage.ts';

const LOOK_MILLISECONDS = 50;
const SIGNALS = 64;
const SIGXCPU = 24;
const SIGKILL = 9;
/** What V8 says before it aborts. */
const V8_OUT_OF_MEMORY = /JavaScript heap out of memory|Fatal process out of memory/;

export class Execution {
  readonly run: Promise<Run>;
  readonly #interpreter: Interpreter;
  readonly #limits: Limits;
  readonly #stdout: Capture;
  readonly #stderr: Capture;
  readonly #report: Capture;
  #stoppedBy: StoppedBy | undefined;
  #cpuSeconds = 0;

  constructor(interpreter: Interpreter, program: LimitedProgram) {
    this.#interpreter = interpreter;
    this.#limits = program.limits;
    const capture = () => new Capture(program.limits.outputBytes, () => this.stop('output'));
    this.#stdout = capture();
    this.#stderr = capture();
    this.#report = capture();
    this.run = this.#follow(program);
  }

  stop(by: StoppedBy): void {
    this.#stoppedBy ??= by;
    this.#interpreter.kill();
  }

  async #follow(program: LimitedProgram): Promise<Run> {
    const { stdout, stderr, control, input, exited } = this.#interpreter;
    for (const stream of [stdout, control]) stream.on('data', () => this.#interpreter.look());
    stdout.on('data', (chunk: Buffer) => this.#stdout.add(chunk));
    stderr.on('data', (chunk: Buffer) => this.#stderr.add(chunk));
    control.on('data', (chunk: Buffer) => this.#report.add(chunk));
    // They were paused when the interpreter was ready, and stay so until told.
    for (const stream of [stdout, stderr, control]) stream.resume();
    try {
      await input.writeFile(program.stdin ?? '');
    } catch (cause) {
      this.#interpreter.kill();
      return down(cause);
    }
    control.write(request(program));
    // Where this process itself was kept from its events, the exit may wait to be heard: only after it is it too late.
    const onWall = (): void => void (this.#interpreter.alive && this.stop('wall'));
    const wall = setTimeout(() => setImmediate(onWall), this.#limits.wallSeconds * 1000);
    const done = new AbortController();
    const watched = this.#watch(done.signal);
    const exit = await exited;
    clearTimeout(wall);
    done.abort();
    await watched;
    return this.#outcome(exit);
  }

  async #watch(done: AbortSignal): Promise<void> {
    while (!done.aborted) {
      this.#interpreter.look();
      const { cpuSeconds, memoryBytes } = await usageOf(this.#interpreter.pid);
      this.#cpuSeconds = Math.max(this.#cpuSeconds, cpuSeconds);
      if (this.#cpuSeconds > this.#limits.cpuSeconds) this.stop('cpu');
      if (memoryBytes > this.#limits.memoryBytes) this.stop('memory');
      await wait(LOOK_MILLISECONDS, undefined, { signal: done }).catch(() => {});
    }
  }

  #outcome({ code }: Exit): Run {
    const output = this.#output();
    const by = this.#stoppedBy ?? (code === null ? undefined : this.#endedBy(code, output.stderr));
    if (by !== undefined) return { status: 'stopped', by, ...output };
    if (code === null)
      return down('bubblewrap was killed from outside (by hand, or by the kernel for want of memory)');
    return { status: 'exited', code, ...output };
  }

  #output(): Output {
    return {
      stdout: this.#stdout.text(),
      stderr: this.#stderr.text(),
      report: this.#report.text(),
      cpuSeconds: this.#cpuSeconds,
    };
  }

  #endedBy(code: number, stderr: string): StoppedBy | undefined {
    const signal = code - 128;
    if (signal <= 0 || signal > SIGNALS) return undefined;
    if (signal === SIGXCPU) return 'cpu';
    if (signal === SIGKILL && this.#cpuSeconds >= this.#limits.cpuSeconds) return 'cpu';
    return V8_OUT_OF_MEMORY.test(stderr) ? 'memory' : 'signal';
  }
}

/** Length (4 bytes, big-endian) and JSON, as the boot scripts read it. */
function request({ language, main, files = {} }: LimitedProgram): Buffer {
  const body = Buffer.from(JSON.stringify({ main, files, typescript: language === 'typescript' }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

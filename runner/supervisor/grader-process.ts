// A grader as a child: started when there is an errand, ended when there was none for a while. It is killed where it says nothing, or
// goes on without ever finishing an answer; whoever waits for it learns how it died, and may ask a fresh one.
import type { ChildProcess } from 'node:child_process';
import type { FromGrader, GraderOutcome, GraderWork, ToGrader } from '../ipc.ts';
import { endChild, exitOf, forkChild } from './child.ts';
import type { Timing } from './settings.ts';
import { withoutSecrets } from './trainer-process.ts';

export class GraderDied extends Error {
  override readonly name = 'GraderDied';
}

export type GraderTiming = Pick<Timing, 'killGraceMs' | 'graderSilenceMs' | 'graderStallMs' | 'graderIdleMs'>;

interface Pending {
  readonly child: ChildProcess;
  readonly work: GraderWork;
  readonly done: (outcome: GraderOutcome) => void;
  readonly died: (error: GraderDied) => void;
}

export class GraderProcess {
  readonly #entry: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #timing: GraderTiming;
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #pending: Pending | undefined;
  #idle: NodeJS.Timeout | undefined;
  #rewardModel: string | undefined;
  #graded = 0;
  #heard = 0;
  #advanced = 0;

  constructor(entry: string, env: NodeJS.ProcessEnv, timing: GraderTiming) {
    this.#entry = entry;
    this.#env = withoutSecrets(env);
    this.#timing = timing;
  }

  /** The checkpoint that the process which runs now holds open: it need not be fetched for it again. */
  get rewardModel(): string | undefined {
    return this.#child === undefined ? undefined : this.#rewardModel;
  }

  /** One errand at a time. Rejects with GraderDied where the process ends, or is ended, before it has answered. */
  perform(work: GraderWork): Promise<GraderOutcome> {
    if (this.#pending !== undefined) throw new Error('internal: the grader has an errand already');
    clearTimeout(this.#idle);
    const child = (this.#child ??= this.#start());
    this.#heard = this.#advanced = performance.now();
    return new Promise((done, died) => {
      this.#pending = { child, work, done, died };
      // A channel that just closed: the exit that follows tells.
      child.send({ type: 'work', work } satisfies ToGrader, () => undefined);
    });
  }

  /** Ends the process and all that it started; resolves when it is gone. */
  async end(): Promise<void> {
    clearTimeout(this.#idle);
    const child = this.#child;
    this.#child = undefined; // an errand that comes meanwhile starts another
    if (child !== undefined) void endChild(child, this.#exited, this.#timing.killGraceMs);
    await this.#exited;
  }

  #start(): ChildProcess {
    const child = forkChild(this.#entry, { env: this.#env, output: 'inherit' });
    this.#graded = 0;
    this.#rewardModel = undefined;
    let killedFor: string | undefined;
    const watch = setInterval(() => {
      // Where this process itself had been stopped, messages wait to be read: only after them is it silence.
      if (this.#stuck(child) === undefined) return;
      setImmediate(() => {
        killedFor ??= this.#stuck(child);
        if (killedFor !== undefined) child.kill('SIGKILL');
      });
    }, this.#timing.graderSilenceMs / 4);
    watch.unref();
    child.on('message', (message) => this.#hear(child, message as FromGrader));
    const exited = exitOf(child).then(({ signal, code, error }) => {
      clearInterval(watch);
      if (this.#child === child) this.#child = undefined;
      const how = killedFor ?? error?.message ?? signal ?? `exit code ${code}`;
      this.#settle(child, (pending) => pending.died(new GraderDied(how)));
    });
    this.#exited = Promise.all([this.#exited, exited]).then(() => undefined);
    return child;
  }

  #stuck(child: ChildProcess): string | undefined {
    if (this.#pending?.child !== child) return undefined;
    const { graderSilenceMs, graderStallMs } = this.#timing;
    const now = performance.now();
    if (now - this.#heard > graderSilenceMs)
      return `killed: it gave no sign of life for ${graderSilenceMs / 1000} s`;
    if (now - this.#advanced > graderStallMs)
      return `killed: it finished no answer for ${graderStallMs / 1000} s`;
    return undefined;
  }

  #hear(child: ChildProcess, message: FromGrader): void {
    if (this.#child !== child) return;
    this.#heard = performance.now();
    if (message.type === 'alive' && message.graded !== this.#graded) {
      this.#graded = message.graded;
      this.#advanced = this.#heard;
    }
    if (message.type !== 'outcome') return;
    this.#settle(child, ({ work, done }) => {
      // It keeps the last one that it has opened.
      if (work.kind === 'grade' && work.rewardModel !== undefined)
        this.#rewardModel = message.outcome.type === 'graded' ? work.rewardModel.id : undefined;
      done(message.outcome);
    });
    this.#idle = setTimeout(() => void this.end(), this.#timing.graderIdleMs);
    this.#idle.unref();
  }

  #settle(child: ChildProcess, tell: (pending: Pending) => void): void {
    const pending = this.#pending;
    if (pending?.child !== child) return;
    this.#pending = undefined;
    tell(pending);
  }
}

// The one uploader of a runner, seen from the supervisor: started on the first transfer, started again whenever it
// dies, and asked again for what it had not finished. A transfer that kills it over and over is given up.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { CheckpointCommit } from '../../api/contract/checkpoint.ts';
import type { FromUploader, ToUploader, Transfer, TransferFailureCode } from '../ipc.ts';
import { endChild, exitOf, forkChild } from './child.ts';

export class TransferFailed extends Error {
  override readonly name = 'TransferFailed';
  readonly code: TransferFailureCode;
  readonly kind: Transfer['kind'];

  constructor(kind: Transfer['kind'], code: TransferFailureCode, message: string) {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}

interface Pending {
  readonly message: ToUploader;
  readonly done: (commit: CheckpointCommit | undefined) => void;
  readonly failed: (error: TransferFailed) => void;
}

const failureOf = ({ message }: Pending, code: TransferFailureCode, why: string): TransferFailed =>
  new TransferFailed(message.transfer.kind, code, why);

/** Deaths in a row, without a finished transfer between. */
const deathLimit = 5;
const firstPauseMs = 100;

export class UploaderProcess {
  readonly #entry: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #pending = new Map<number, Pending>();
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #deaths = 0;
  #lastId = 0;
  #closed = false;
  readonly #silenceMs: number;

  constructor(entry: string, env: NodeJS.ProcessEnv, silenceMs: number) {
    this.#entry = entry;
    this.#env = env;
    this.#silenceMs = silenceMs;
  }

  /** For tests that kill it. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves with what to commit for a snapshot. Rejects with TransferFailed; never settles once abandoned. */
  transfer(transfer: Transfer): Promise<CheckpointCommit | undefined> {
    return new Promise((done, failed) => {
      const message = { id: ++this.#lastId, transfer };
      this.#pending.set(message.id, { message, done, failed });
      if (this.#child === undefined) this.#start();
      else this.#send(message);
    });
  }

  /** Forgets every transfer; a running one is cut short by ending the process. */
  async abandon(): Promise<void> {
    if (this.#pending.size === 0) return;
    this.#pending.clear();
    if (this.#child !== undefined) await endChild(this.#child, this.#exited, 0);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#pending.clear();
    if (this.#child !== undefined) await endChild(this.#child, this.#exited, 1_000);
  }

  #start(): void {
    if (this.#closed) return;
    const child = forkChild(this.#entry, { env: this.#env, output: 'inherit' });
    this.#child = child;
    const unwatch = this.#watchForSilence(child);
    child.on('message', (message) => this.#settle(message as FromUploader));
    this.#exited = exitOf(child).then((exit) => {
      unwatch();
      this.#restart(exit.signal ?? `code ${exit.code}`);
    });
    for (const { message } of this.#pending.values()) this.#send(message);
  }

  /** Ends a child that has work and says nothing. Returns how to stop watching. */
  #watchForSilence(child: ChildProcess): () => void {
    let heard = performance.now();
    child.on('message', () => (heard = performance.now()));
    const isSilent = (): boolean => this.#pending.size > 0 && performance.now() - heard > this.#silenceMs;
    const timer = setInterval(() => {
      // Where this process itself had been stopped, messages wait to be read: only after them is it silence.
      if (isSilent()) setImmediate(() => isSilent() && child.kill('SIGKILL'));
    }, this.#silenceMs / 4);
    timer.unref();
    return () => clearInterval(timer);
  }

  #send(message: ToUploader): void {
    // A channel that just closed: the exit that follows asks again.
    this.#child?.send(message, () => undefined);
  }

  #settle(message: FromUploader): void {
    if (message.type === 'alive') return;
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    this.#pending.delete(message.id);
    this.#deaths = 0;
    if (message.type === 'done') pending.done(message.commit);
    else pending.failed(failureOf(pending, message.code, message.message));
  }

  #restart(how: string): void {
    this.#child = undefined;
    if (this.#pending.size === 0) return;
    this.#deaths++;
    if (this.#deaths >= deathLimit) this.#giveUp(how);
    else void delay(firstPauseMs * 2 ** this.#deaths).then(() => this.#child ?? this.#start());
  }

  #giveUp(how: string): void {
    const message = `the uploader process died ${this.#deaths} times in a row (last: ${how}); see the runner's own log`;
    for (const pending of this.#pending.values()) pending.failed(failureOf(pending, 'unavailable', message));
    this.#pending.clear();
    this.#deaths = 0;
  }
}

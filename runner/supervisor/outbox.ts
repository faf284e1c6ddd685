// Everything an attempt says to the service, in order and one at a time: numbered reports, checkpoint commits, the
// finish last. A commit goes out only after every report queued before it was accepted. While the service is away
// entries gather into fewer, larger reports; a report that was sent once is repeated as it was, under its number.
import { backoff, pause } from '../../api/client/request.ts';
import type { CheckpointCommit } from '../../api/contract/checkpoint.ts';
import type { Entry } from '../../api/contract/event.ts';
import type { Outcome } from '../../api/contract/runner.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { AttemptCalls } from './calls.ts';
import { verdictOf } from './calls.ts';

export interface OutboxOptions {
  readonly calls: AttemptCalls;
  readonly log: AttemptLog;
  readonly lingerMs: number;
  /** The service says that the attempt has lost its job; the outbox has dropped everything. */
  readonly onLost: (why: string) => void;
  /** The service will never take what we say; only a finish follows. */
  readonly onRefused: (why: string) => void;
}

type Item =
  | { readonly kind: 'entry'; readonly entry: Entry; readonly bytes: number }
  | {
      readonly kind: 'commit';
      readonly commit: CheckpointCommit;
      readonly done: (committed: boolean) => void;
    };

const reportEntries = 1_000;
const reportBytes = 1 << 20;
const reportLog = 200_000;
/** A lease is far shorter than it takes a sane trainer to say this much to a service that is away. */
const waitingBytes = 64 << 20;
const firstPauseMs = 200;

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #dropped = new AbortController();
  readonly #queue: Item[] = [];
  #bytes = 0;
  #sequence = 0;
  #ended = false;
  #turn: Promise<void> = Promise.resolve();
  #linger: NodeJS.Timeout | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  entry(entry: Entry): void {
    if (this.#ended) return;
    const bytes = Buffer.byteLength(JSON.stringify(entry));
    this.#queue.push({ kind: 'entry', entry, bytes });
    this.#bytes += bytes;
    if (this.#bytes > waitingBytes)
      this.#refuse(`more than ${waitingBytes} bytes of reports wait for the service`);
    else this.wake();
  }

  /** Resolves with true once the checkpoint is committed, with false where it never will be. */
  commit(commit: CheckpointCommit): Promise<boolean> {
    return new Promise((done) => {
      if (this.#ended) return done(false);
      this.#queue.push({ kind: 'commit', commit, done });
      this.wake();
    });
  }

  /** New log lines are reason enough for a report, too. */
  wake(): void {
    if (this.#ended) return;
    this.#linger ??= setTimeout(() => {
      this.#linger = undefined;
      this.#afterTurn(() => this.#drain());
    }, this.#options.lingerMs);
  }

  /** Says everything that waits, then the outcome. Resolves also where the attempt is lost or dropped meanwhile. */
  async finish(outcome: Outcome): Promise<void> {
    this.#end();
    this.#afterTurn(() => this.#drain());
    this.#afterTurn(() =>
      this.#deliver(() => this.#options.calls.finish(outcome, this.#options.log.take(reportLog))),
    );
    await this.#turn;
  }

  /** Forgets everything and gives up on calls that have not been answered. */
  drop(): void {
    this.#forget();
    this.#dropped.abort();
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#linger);
  }

  #forget(): void {
    this.#end();
    for (const item of this.#queue.splice(0)) if (item.kind === 'commit') item.done(false);
  }

  #afterTurn(next: () => Promise<unknown>): void {
    this.#turn = this.#turn.then(async () => void (await next()));
  }

  async #drain(): Promise<void> {
    const { calls, log } = this.#options;
    while (this.#queue.length > 0 || !log.isEmpty) {
      const head = this.#queue[0];
      if (head?.kind === 'commit') {
        if (!(await this.#deliver(() => calls.commit(head.commit)))) return;
        this.#queue.shift();
        head.done(true);
      } else {
        const report = { sequence: ++this.#sequence, entries: this.#takeEntries(), log: log.take(reportLog) };
        if (!(await this.#deliver(() => calls.report(report)))) return;
      }
    }
  }

  #takeEntries(): Entry[] {
    const entries: Entry[] = [];
    for (let size = 0; entries.length < reportEntries;) {
      const head = this.#queue[0];
      if (head?.kind !== 'entry' || (entries.length > 0 && size + head.bytes > reportBytes)) break;
      size += head.bytes;
      this.#bytes -= head.bytes;
      entries.push(head.entry);
      this.#queue.shift();
    }
    return entries;
  }

  /** Makes a call until it is answered; false where it never will be. */
  async #deliver(call: () => Promise<unknown>): Promise<boolean> {
    for (let failed = 1; !this.#dropped.signal.aborted; failed++) {
      try {
        await call();
        return true;
      } catch (error) {
        const verdict = verdictOf(error);
        const why = (error as Error).message;
        if (verdict === 'lost') this.#lose(why);
        if (verdict === 'refused') this.#refuse(why);
        if (verdict !== 'again') return false;
      }
      await pause(backoff(failed, firstPauseMs), this.#dropped.signal).catch(() => undefined);
    }
    return false;
  }

  #lose(why: string): void {
    this.drop();
    this.#options.onLost(why);
  }

  #refuse(why: string): void {
    this.#forget();
    this.#options.onRefused(why);
  }
}

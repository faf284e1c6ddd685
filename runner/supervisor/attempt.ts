// One attempt from claim to finish: inputs, trainer, snapshots, reports, and the one reason for which it ends.
// Whatever happens first decides; everything after only tidies up. Nothing here computes.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../../api/contract/job.ts';
import { durationMs } from '../../api/contract/names.ts';
import type { Claim, Outcome } from '../../api/contract/runner.ts';
import type { Device, FromTrainer, Inputs } from '../ipc.ts';
import { checkpointPrefix } from '../ipc.ts';
import { AttemptLog } from './attempt-log.ts';
import type { AttemptCalls } from './calls.ts';
import { verdictOf } from './calls.ts';
import { crashOutcome, failed, memoryKills } from './crash.ts';
import { planInputs } from './inputs.ts';
import { askForStageEnd } from './stage-ends.ts';
import { namedFailure } from './teacher-inputs.ts';
import type { Lease } from './lease.ts';
import { keepLease } from './lease.ts';
import { Outbox } from './outbox.ts';
import type { Timing } from './settings.ts';
import type { TrainerProcess } from './trainer-process.ts';
import { startTrainer } from './trainer-process.ts';
import { transferOutcome } from './transfer-outcome.ts';
import type { UploaderProcess } from './uploader-process.ts';
import { TransferFailed } from './uploader-process.ts';

export interface AttemptOptions {
  readonly claim: Claim;
  readonly calls: AttemptCalls;
  readonly uploader: UploaderProcess;
  readonly heartbeatMs: number;
  /** performance.now() from before the claim was sent. */
  readonly heldSince: number;
  /** Folder of this attempt alone; made and removed here. */
  readonly scratch: string;
  readonly trainerEntry: string;
  /** What the trainer computes with. */
  readonly device: Device;
  /** Model directories on this machine lie below one of them. */
  readonly modelRoots: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly timing: Timing;
  /** Aborted when the runner is stopped: the step at work is finished and kept. */
  readonly stopping: AbortSignal;
  /** Aborted when it is to stop at once. */
  readonly hurry: AbortSignal;
  readonly onLine: (text: string) => void;
}

/** Why an attempt ends. `drain`: snapshots and samples on their way to the store are worth waiting for. */
type Ending =
  | { readonly kind: 'finish'; readonly outcome: Outcome; readonly drain: boolean }
  | { readonly kind: 'drop'; readonly why: string };

const lastHeartbeatMs = 1_000;

export class Attempt {
  readonly #options: AttemptOptions;
  readonly #log = new AttemptLog();
  readonly #outbox: Outbox;
  readonly #ending = Promise.withResolvers<Ending>();
  /** Settles what is left to do early: the lease is lost, or somebody wants the runner back now. */
  readonly #hurry = new AbortController();
  /** To the store. */
  readonly #transfers = new Set<Promise<unknown>>();
  readonly #over = new AbortController();
  #made: Promise<unknown> = Promise.resolve();
  #trainer: TrainerProcess | undefined;
  #progress: Progress | null = null;
  #signs = 0;
  #outcome: Outcome | undefined;
  #ended = false;
  #cancelled = false;
  #pausing = false;
  #draining: NodeJS.Timeout | undefined;
  #stall: NodeJS.Timeout | undefined;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#outbox = new Outbox({
      calls: options.calls,
      log: this.#log,
      lingerMs: options.timing.lingerMs,
      onLost: (why) => this.#drop(why),
      onRefused: (why) => this.#fail('trainer_crashed', `the service refused what the attempt said: ${why}`),
    });
  }

  /** Runs the attempt to its end; resolves when no process and no file of it is left. Never throws for the job's fault. */
  async run(): Promise<void> {
    const { stopping, hurry, scratch } = this.#options;
    const lease = this.#keepLease();
    const drain = (): void => this.#drain();
    const stop = (): void => this.#stop();
    stopping.addEventListener('abort', drain, { once: true });
    hurry.addEventListener('abort', stop, { once: true });
    if (stopping.aborted) drain();
    if (hurry.aborted) stop();
    try {
      void this.#train();
      await this.#close(await this.#ending.promise);
    } finally {
      lease.stop();
      clearTimeout(this.#draining);
      stopping.removeEventListener('abort', drain);
      hurry.removeEventListener('abort', stop);
      await this.#made.catch(() => undefined);
      await rm(scratch, { recursive: true, force: true });
    }
  }

  #keepLease(): Lease {
    const { calls, heartbeatMs, heldSince, claim } = this.#options;
    return keepLease({
      calls,
      heartbeatMs,
      heldSince,
      leaseMs: claim.lease_ms,
      progress: () => this.#progress,
      signs: () => this.#countSigns(),
      onCancel: () => this.#cancel(),
      onPause: () => this.#pause(),
      onMissed: (why) => this.#options.onLine(`a heartbeat went unanswered: ${why}`),
      onLost: (why) => this.#drop(why),
    });
  }

  #end(ending: Ending): void {
    this.#ended = true;
    this.#ending.resolve(ending);
    this.#over.abort();
  }

  #fail(reason: Parameters<typeof failed>[0], message: string): void {
    this.#end({ kind: 'finish', outcome: failed(reason, message), drain: true });
  }

  #drop(why: string): void {
    this.#outbox.drop();
    this.#hurry.abort();
    this.#end({ kind: 'drop', why });
  }

  #cancel(): void {
    this.#cancelled = true;
    this.#hurry.abort();
    this.#end({ kind: 'finish', outcome: { type: 'cancelled' }, drain: false });
  }

  /** The trainer keeps what it has learnt and ends; before there is one, nothing has been learnt. */
  #pause(): void {
    if (this.#pausing) return;
    this.#pausing = true;
    if (this.#trainer !== undefined) this.#trainer.send({ type: 'pause' });
    else this.#end({ kind: 'finish', outcome: { type: 'paused' }, drain: false });
  }

  /** As a pause, but the job goes back to the queue. What takes longer than there is time is cut off. */
  #drain(): void {
    const { drainMs } = this.#options.timing;
    if (drainMs === 0) return this.#stop();
    this.#draining = setTimeout(() => this.#stop(), drainMs);
    if (this.#trainer !== undefined) this.#trainer.send({ type: 'pause' });
    else this.#end({ kind: 'finish', outcome: { type: 'released' }, drain: false });
  }

  #stop(): void {
    this.#hurry.abort();
    const outcome = failed(
      'runner_stopped',
      'the runner was stopped; another attempt goes on from the last checkpoint',
    );
    this.#end({ kind: 'finish', outcome, drain: false });
    setTimeout(() => this.#outbox.drop(), this.#options.timing.stopMs).unref();
  }

  async #train(): Promise<void> {
    const { scratch } = this.#options;
    try {
      await (this.#made = mkdir(join(scratch, 'work'), { recursive: true }));
      // A lease may have been lost before it began: a runner that was stopped finds its claim when it goes on.
      if (this.#ended) return;
      const inputs = await this.#fetchInputs();
      if (!this.#ended) this.#start(inputs);
    } catch (error) {
      this.#failTransfer(error);
    }
  }

  async #fetchInputs(): Promise<Inputs> {
    const { claim, scratch, uploader, modelRoots } = this.#options;
    const { inputs, transfers, teacherTransfers } = planInputs(claim, join(scratch, 'inputs'), modelRoots);
    await Promise.all([
      ...transfers.map((transfer) => uploader.transfer(transfer)),
      ...teacherTransfers.map(({ whose, transfer }) =>
        uploader.transfer(transfer).catch((error: unknown) => Promise.reject(namedFailure(whose, error))),
      ),
    ]);
    return inputs;
  }

  #failTransfer(error: unknown): void {
    this.#end({ kind: 'finish', outcome: transferOutcome(error), drain: false });
  }

  #start(inputs: Inputs): void {
    const { claim, env, scratch, trainerEntry, device } = this.#options;
    const killsBefore = memoryKills();
    this.#trainer = startTrainer(trainerEntry, env, {
      onMessage: (message) => this.#hear(message),
      onOutput: (text) => {
        this.#log.write(text);
        this.#outbox.wake();
      },
    });
    this.#watchForStall();
    this.#trainer.send({ type: 'start', claim, inputs, scratch: join(scratch, 'work'), device });
    void this.#trainer.exited.then((exit) => {
      const outcome = this.#outcome ?? crashOutcome(exit, this.#log.lastLines(), killsBefore);
      this.#end({ kind: 'finish', outcome, drain: true });
    });
  }

  #watchForStall(): void {
    const limit = this.#options.claim.spec.stall_timeout;
    clearTimeout(this.#stall);
    this.#stall = setTimeout(() => {
      // It may be waiting for us: no further snapshot is written before this one is in the store.
      if (this.#transfers.size > 0) return this.#watchForStall();
      this.#fail(
        'stalled',
        `the trainer gave no sign of life for ${limit} (stall_timeout). ${this.#log.lastLines()}`,
      );
    }, durationMs(limit));
  }

  /** Of the trainer; while transfers are at work, which are watched by themselves, every heartbeat is one. */
  #countSigns(): number {
    if (this.#trainer === undefined || this.#transfers.size > 0) this.#signs++;
    return this.#signs;
  }

  #hear(message: FromTrainer): void {
    this.#signs++;
    this.#watchForStall();
    switch (message.type) {
      case 'entry':
        return this.#outbox.entry(message.entry);
      case 'progress':
        this.#progress = message.progress;
        return;
      case 'alive':
        return;
      case 'snapshot':
        return this.#track(this.#keepSnapshot(message));
      case 'samples':
        return this.#track(this.#keepSamples(message));
      case 'fetch_stage_end':
        return void this.#bringStageEnd(message);
      case 'outcome':
        return this.#expectExit(message.outcome);
    }
  }

  #track(transfer: Promise<void>): void {
    this.#transfers.add(transfer);
    void transfer.finally(() => {
      this.#transfers.delete(transfer);
      if (!this.#ended) this.#watchForStall();
    });
  }

  async #keepSnapshot({ dir, meta }: Extract<FromTrainer, { type: 'snapshot' }>): Promise<void> {
    const { claim, uploader } = this.#options;
    const prefix = checkpointPrefix(claim.job, claim.attempt, meta);
    try {
      const commit = await uploader.transfer({ kind: 'store_snapshot', dir, prefix });
      if (!(await this.#outbox.commit(commit!))) return;
      await rm(dir, { recursive: true, force: true });
      this.#trainer?.send({ type: 'snapshot_done', dir });
    } catch (error) {
      this.#failTransfer(error);
    }
  }

  /** Nothing waits for it once the attempt ends. The trainer, which waits, gives signs of life. */
  async #bringStageEnd({
    stageIndex,
    dir,
  }: Extract<FromTrainer, { type: 'fetch_stage_end' }>): Promise<void> {
    const { calls, uploader, claim } = this.#options;
    const stage = claim.spec.stages[stageIndex]!.name;
    try {
      const checkpoint = await askForStageEnd(calls, stageIndex, this.#over.signal);
      if (this.#ended) return;
      if (checkpoint === null) {
        const message = `no end of stage ${stage} has been committed`;
        return this.#trainer!.send({ type: 'stage_end_missing', stageIndex, message });
      }
      await uploader.transfer({ kind: 'fetch_checkpoint', checkpoint, dir, part: 'model' });
      this.#trainer!.send({ type: 'stage_end', stageIndex, dir });
    } catch (error) {
      this.#failFetch(`the end of stage ${stage}, which a later stage learns from`, error);
    }
  }

  #failFetch(whose: string, error: unknown): void {
    if (this.#ended) return;
    const why = `${whose}: ${(error as Error).message}`;
    if (error instanceof TransferFailed) this.#failTransfer(namedFailure(whose, error));
    else if (verdictOf(error) === 'lost') this.#drop(why);
    else this.#fail('trainer_crashed', `the service refused to say where it lies: ${why}`);
  }

  /** Samples are for looking at: a shard that the store will not take is noted, and training goes on. */
  async #keepSamples({ file, entry }: Extract<FromTrainer, { type: 'samples' }>): Promise<void> {
    try {
      await this.#options.uploader.transfer({ kind: 'store_file', file, key: entry.key });
      this.#outbox.entry(entry);
    } catch (error) {
      this.#log.note(
        `the samples of ${entry.stage} step ${entry.step} were not stored: ${(error as Error).message}`,
      );
    }
    await rm(file, { force: true });
  }

  #expectExit(outcome: Outcome): void {
    this.#outcome =
      outcome.type === 'failed' ? { ...outcome, ...failed(outcome.reason, outcome.message) } : outcome;
    const { exitGraceMs, killGraceMs } = this.#options.timing;
    const trainer = this.#trainer!;
    void Promise.race([trainer.exited, delay(exitGraceMs, 'late', { ref: false })]).then((first) => {
      if (first === 'late') return trainer.end(killGraceMs);
    });
  }

  async #close(ending: Ending): Promise<void> {
    clearTimeout(this.#stall);
    await this.#trainer?.end(this.#options.timing.killGraceMs);
    clearTimeout(this.#stall);
    if (ending.kind === 'finish' && ending.drain) await this.#drainTransfers();
    await this.#options.uploader.abandon();
    if (ending.kind === 'drop') {
      this.#options.onLine(`attempt dropped: ${ending.why}`);
      return;
    }
    await this.#tellProgress();
    await this.#outbox.finish(this.#told(ending.outcome));
  }

  /** A cancel that was asked for wins; of pauses the service’s own does. */
  #told(outcome: Outcome): Outcome {
    if (this.#cancelled && outcome.type !== 'succeeded') return { type: 'cancelled' };
    const isReleased = outcome.type === 'paused' && this.#draining !== undefined && !this.#pausing;
    return isReleased ? { type: 'released' } : outcome;
  }

  /** Where the attempt stood when it ended: heartbeats told that of a moment before. The service may miss it. */
  async #tellProgress(): Promise<void> {
    if (this.#progress === null || this.#hurry.signal.aborted) return;
    await this.#options.calls.heartbeat(this.#progress, lastHeartbeatMs).catch(() => undefined);
  }

  /** Waits for what is on its way to the store, unless the lease is lost or the runner is wanted back. */
  async #drainTransfers(): Promise<void> {
    const { signal } = this.#hurry;
    const hurried = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    while (this.#transfers.size > 0 && !signal.aborted) {
      await Promise.race([Promise.allSettled(this.#transfers), hurried]);
    }
  }
}

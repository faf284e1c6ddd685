// One errand from claim to finish: its file is fetched, the grader does it under the lease, the outcome is told. A grader that dies is
// tried once more, fresh: what kills two of them ends the errand, not the runner.
import { rm } from 'node:fs/promises';
import type { Client } from '../../api/client.ts';
import { backoff, pause } from '../../api/client/request.ts';
import type { ErrandClaim, ErrandOutcome } from '../../api/contract/errand.ts';
import type { GraderOutcome } from '../ipc.ts';
import { verdictOf } from './calls.ts';
import { prepareErrand, RewardModelGone } from './errand-inputs.ts';
import { GraderDied } from './grader-process.ts';
import type { GraderProcess } from './grader-process.ts';
import { keepLease } from './lease.ts';
import { TransferFailed } from './uploader-process.ts';
import type { UploaderProcess } from './uploader-process.ts';

export interface ErrandOptions {
  readonly claim: ErrandClaim;
  readonly service: Client['runner'];
  readonly runner: string;
  readonly grader: GraderProcess;
  /** Of this errand alone: started where a file is to be fetched. */
  readonly uploader: UploaderProcess;
  readonly heartbeatMs: number;
  /** performance.now() from before the claim was sent. */
  readonly heldSince: number;
  /** Folder of this errand alone; removed here. */
  readonly scratch: string;
  /** For the last word when the runner is stopped. */
  readonly stopMs: number;
  /** Aborted when the runner is stopped. */
  readonly stopping: AbortSignal;
  readonly onLine: (text: string) => void;
}

const tries = 2;
const callMs = 15_000;
const firstPauseMs = 200;

/** Resolves when nothing of the errand is left. Never throws for the errand's fault. */
export async function runErrand(options: ErrandOptions): Promise<void> {
  const { claim, service, runner, stopping, onLine } = options;
  const fenced = { runner, errand: claim.errand, attempt: claim.attempt };
  const lost = new AbortController();
  const ended = AbortSignal.any([lost.signal, stopping]);
  const lease = keepLease({
    calls: {
      heartbeat: async (_progress, timeoutMs) => ({
        action: 'continue',
        ...(await service.errandHeartbeat(fenced, { timeoutMs })),
      }),
    },
    heartbeatMs: options.heartbeatMs,
    heldSince: options.heldSince,
    leaseMs: claim.lease_ms,
    progress: () => null,
    onCancel: () => undefined,
    onPause: () => undefined,
    onMissed: (why) => onLine(`a heartbeat went unanswered: ${why}`),
    onLost: (why) => lost.abort(new Error(why)),
  });
  try {
    const outcome = await unlessEnded(ended, perform(options, ended)).catch(stopped);
    if (ended.aborted) await Promise.all([options.grader.end(), options.uploader.close()]);
    if (lost.signal.aborted) onLine(`errand dropped: ${(lost.signal.reason as Error).message}`);
    else await tell(options, lost.signal, outcome);
  } finally {
    lease.stop();
    await options.uploader.close();
    await rm(options.scratch, { recursive: true, force: true });
  }
}

const stopped = (): ErrandOutcome => ({
  type: 'again',
  reason: 'runner_stopped',
  message: 'the runner was stopped; another one may take it',
});

/** Rejects as soon as the signal is aborted: a transfer that was cut short never settles. */
function unlessEnded<T>(ended: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(ended.reason as Error);
  ended.addEventListener('abort', stop, { once: true });
  if (ended.aborted) stop();
  return Promise.race([work, promise]).finally(() => ended.removeEventListener('abort', stop));
}

async function perform(options: ErrandOptions, ended: AbortSignal): Promise<ErrandOutcome> {
  try {
    return await gradeTwice(options, ended);
  } catch (error) {
    ended.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    // What it needs was there when it was posted: this store is away, or is not the one that the service uses.
    if (error instanceof TransferFailed)
      return {
        type: 'again',
        reason: error.code === 'scratch_full' ? 'scratch_full' : 'store_unavailable',
        message: bounded(message),
      };
    const reason = error instanceof RewardModelGone ? 'invalid_data' : 'grader_failed';
    return { type: 'failed', reason, message: bounded(message) };
  }
}

/** A fresh process may need what the one that died had. */
async function gradeTwice(options: ErrandOptions, ended: AbortSignal): Promise<ErrandOutcome> {
  const { grader, onLine } = options;
  const deaths: string[] = [];
  while (deaths.length < tries) {
    const work = await prepareErrand(options);
    ended.throwIfAborted();
    try {
      return outcomeOf(await grader.perform(work));
    } catch (error) {
      ended.throwIfAborted();
      if (!(error instanceof GraderDied)) throw error;
      deaths.push(error.message);
      onLine(`the grader process died: ${error.message}`);
    }
  }
  const message = `the grader process died ${tries} times on it: ${deaths.join('; then ')}`;
  return { type: 'failed', reason: 'grader_crashed', message: bounded(message) };
}

function outcomeOf(outcome: GraderOutcome): ErrandOutcome {
  switch (outcome.type) {
    case 'graded':
      return { type: 'graded', results: [...outcome.results] };
    case 'validated':
      return outcome;
    case 'failed':
      return { ...outcome, message: bounded(outcome.message) };
    case 'unavailable':
      return { type: 'again', reason: 'reward_unavailable', message: bounded(outcome.message) };
  }
}

const bounded = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed().slice(0, 10_000);

/** Says the outcome until it is heard, while the lease lasts. */
async function tell(options: ErrandOptions, lost: AbortSignal, outcome: ErrandOutcome): Promise<void> {
  const { claim, service, runner, stopping, stopMs, onLine } = options;
  const fenced = { runner, errand: claim.errand, attempt: claim.attempt };
  let word = outcome;
  let until = Infinity;
  for (let failed = 1; !lost.aborted; failed++) {
    try {
      await service.finishErrand(
        { ...fenced, outcome: word },
        { timeoutMs: stopping.aborted ? stopMs : callMs },
      );
      return;
    } catch (error) {
      const why = (error as Error).message;
      const verdict = verdictOf(error);
      if (verdict === 'refused' && word === outcome)
        word = {
          type: 'failed',
          reason: 'grader_failed',
          message: bounded(`the service refused the results: ${why}`),
        };
      else if (verdict !== 'again') return onLine(`errand dropped: ${why}`);
    }
    if (stopping.aborted) until = Math.min(until, performance.now() + stopMs);
    if (performance.now() >= until) return;
    await pause(backoff(failed, firstPauseMs), lost).catch(() => undefined);
  }
}

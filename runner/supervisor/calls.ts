// The service as one attempt sees it, and what its answers mean.
import { ApiError } from '../../api/client.ts';
import type { Client } from '../../api/client.ts';
import type { CheckpointCommit } from '../../api/contract/checkpoint.ts';
import type { Entry } from '../../api/contract/event.ts';
import type { Progress } from '../../api/contract/job.ts';
import type { Claim, ClaimedCheckpoint, HeartbeatAction, Outcome } from '../../api/contract/runner.ts';

type Service = Client['runner'];

export interface Report {
  /** 1, 2, 3 … within the attempt; fixed once sent. */
  readonly sequence: number;
  readonly entries: readonly Entry[];
  readonly log: string;
}

export interface AttemptCalls {
  heartbeat(
    progress: Progress | null,
    timeoutMs: number,
    signs?: number,
  ): Promise<{ action: HeartbeatAction; lease_ms: number }>;
  report(report: Report): Promise<unknown>;
  commit(checkpoint: CheckpointCommit): Promise<unknown>;
  /** Of the job's own, as it was committed; null where none is. */
  stageEnd(stageIndex: number): Promise<ClaimedCheckpoint | null>;
  finish(outcome: Outcome, log: string): Promise<unknown>;
}

const callMs = 15_000;

export function attemptCalls(service: Service, runner: string, { job, attempt }: Claim): AttemptCalls {
  const fenced = { runner, job, attempt };
  const options = { timeoutMs: callMs };
  return {
    heartbeat: (progress, timeoutMs, signs) =>
      service.heartbeat({ ...fenced, progress, signs }, { timeoutMs }),
    report: ({ sequence, entries, log }) =>
      service.report({ ...fenced, sequence, entries: [...entries], log }, options),
    commit: (checkpoint) => service.checkpoint({ ...fenced, checkpoint }, options),
    stageEnd: async (stageIndex) =>
      (await service.stageEnd({ ...fenced, stage_index: stageIndex }, options)).checkpoint,
    finish: (outcome, log) => service.finish({ ...fenced, outcome, log }, options),
  };
}

/**
 * - `lost`: the attempt no longer holds its job: drop it;
 * - `refused`: the same call would be refused again;
 * - `again`: the service is away, busy or being set right (a key replaced): ask again while the lease lasts.
 */
export type Verdict = 'lost' | 'refused' | 'again';

export function verdictOf(error: unknown): Verdict {
  if (!(error instanceof ApiError)) return 'again';
  if (error.code === 'lease_lost' || error.code === 'not_found') return 'lost';
  const passing =
    error.status >= 500 || [401, 403, 408, 429].includes(error.status) || error.code === 'unknown';
  return passing ? 'again' : 'refused';
}

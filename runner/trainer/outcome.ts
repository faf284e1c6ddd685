// The one place where what ended a trainer before its time becomes an outcome, what went wrong a typed reason.
import type { FailureReason } from '../../api/contract/job.ts';
import type { Outcome } from '../../api/contract/runner.ts';
import { TeacherTooFar } from '../cascade/distill/distance.ts';
import { TeacherTooShort } from '../cascade/distill/room.ts';
import { Diverged } from '../cascade/diverged.ts';
import { GateFailed } from '../cascade/evaluation/gates.ts';
import { RewardUnavailable } from '../cascade/outage.ts';
import { Paused } from '../cascade/point.ts';
import { CheckpointCorrupt, ScratchFull } from '../checkpoint/error.ts';
import { DataError } from '../data/error.ts';
import { TensorTooLarge } from '../engine/learner/tensor-limit.ts';
import { UnfitWeights } from '../engine/models/parameters.ts';
import { MissingSecret } from '../rewards/secret.ts';
import { InvalidModel } from './load-model.ts';
import { isOutOfMemory } from './out-of-memory.ts';

const reasons: readonly (readonly [new (...args: never[]) => Error, FailureReason])[] = [
  [DataError, 'invalid_data'],
  [MissingSecret, 'invalid_data'],
  [InvalidModel, 'invalid_model'],
  [UnfitWeights, 'invalid_model'],
  [TensorTooLarge, 'invalid_model'],
  [TeacherTooShort, 'invalid_model'],
  [Diverged, 'diverged'],
  [TeacherTooFar, 'teacher_too_far'],
  [RewardUnavailable, 'reward_unavailable'],
  [GateFailed, 'gate_failed'],
  [ScratchFull, 'scratch_full'],
  [CheckpointCorrupt, 'store_unavailable'],
];

/** Of whatever a run has thrown. */
export const endOf = (error: unknown): Outcome =>
  error instanceof Paused ? { type: 'paused' } : failedOutcome(error);

/** Anything that no one foresaw is a crash: the attempt is tried again, and the log has the stack. */
export function failedOutcome(error: unknown): Outcome {
  const known = reasons.find(([kind]) => error instanceof kind);
  const message = error instanceof Error ? error.message : String(error);
  const unforeseen = isOutOfMemory(error) ? 'out_of_memory' : 'trainer_crashed';
  return {
    type: 'failed',
    reason: known?.[1] ?? unforeseen,
    message: message.slice(0, 10_000),
    ...(error instanceof GateFailed && { gate: error.gate }),
  };
}

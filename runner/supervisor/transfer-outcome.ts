// Which failure of the attempt a failed transfer is.
import type { FailureReason } from '../../api/contract/job.ts';
import type { Outcome } from '../../api/contract/runner.ts';
import { failed } from './crash.ts';
import { TransferFailed } from './uploader-process.ts';

function reasonOf({ kind, code }: TransferFailed): FailureReason {
  if (code === 'unavailable') return 'store_unavailable';
  if (code === 'scratch_full') return 'scratch_full';
  // What was to be stored is not what the trainer wrote: its machine is at fault, another attempt may do better.
  if (kind === 'store_snapshot' || kind === 'store_file') return 'trainer_crashed';
  // A committed checkpoint was whole: this store has lost it, or it is not the store that the job's other runners use.
  if (kind === 'fetch_checkpoint') return 'store_unavailable';
  return kind === 'fetch_file' ? 'invalid_data' : 'invalid_model';
}

/** Anything but a TransferFailed is a fault of the runner's machine, such as a scratch folder it may not write. */
export function transferOutcome(error: unknown): Outcome {
  if (error instanceof TransferFailed) return failed(reasonOf(error), error.message);
  const message = error instanceof Error ? error.message : String(error);
  return failed('trainer_crashed', `the attempt could not be set up on this runner: ${message}`);
}

// Where the end of a stage of the attempt's own job lies, as the service knows it: what a later stage learns from.
import { backoff, pause } from '../../api/client/request.ts';
import type { ClaimedCheckpoint } from '../../api/contract/runner.ts';
import type { AttemptCalls } from './calls.ts';
import { verdictOf } from './calls.ts';

const firstPauseMs = 200;

/**
 * Null where none is committed. A service that is away is asked again until `over`. Throws ApiError where it refuses the question, and
 * AbortError once `over`.
 */
export async function askForStageEnd(
  calls: Pick<AttemptCalls, 'stageEnd'>,
  stageIndex: number,
  over: AbortSignal,
): Promise<ClaimedCheckpoint | null> {
  for (let failed = 1; ; failed++) {
    over.throwIfAborted();
    try {
      return await calls.stageEnd(stageIndex);
    } catch (error) {
      if (verdictOf(error) !== 'again') throw error;
    }
    await pause(backoff(failed, firstPauseMs), over);
  }
}

// What becomes of a rollout that ran into max_response without ending. It may change the reward, the mask, or neither;
// the group statistics always see the reward that this file returns (Nemotron-Cascade section 2.3; DAPO for `penalty`).
import type { Overlong } from '../../../api/contract/stages/phase.ts';

export interface OverlongOutcome {
  readonly reward: number;
  /** false: the rollout's tokens enter neither the loss nor N, though its reward stays in mean and std. */
  readonly inLoss: boolean;
}

/** `tokens` is the response length, the end token included. */
export function applyOverlong(
  policy: Overlong,
  reward: number,
  tokens: number,
  truncated: boolean,
  maxResponse: number,
): OverlongOutcome {
  if (policy === 'penalty')
    return { reward: reward + softPenalty(tokens, truncated, maxResponse), inLoss: true };
  if (!truncated || policy === 'keep') return { reward, inLoss: true };
  return policy === 'zero' ? { reward: 0, inLoss: true } : { reward, inLoss: false };
}

/**
 * DAPO's soft overlong punishment (arXiv 2503.14476, Eq. 13): 0 up to the buffer, falling linearly to -1 at
 * `maxResponse`. The buffer is a fifth of the maximum.
 */
function softPenalty(tokens: number, truncated: boolean, maxResponse: number): number {
  if (truncated) return -1;
  const buffer = maxResponse / 5;
  const over = tokens - (maxResponse - buffer);
  return over <= 0 ? 0 : -over / buffer;
}

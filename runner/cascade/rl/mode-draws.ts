// Which mode each task of a batch is asked in. In `half_half` exact halves, and which half a task falls into is drawn by (job seed,
// stage, domain, step) alone, so that it meets both modes over the epochs.
import type { DrawKey } from '../../engine/random/draws.ts';
import { drawStream } from '../../engine/random/draws.ts';

/** `modes` in a drawn order; `round` tells the rounds of one step apart. */
export function shuffled<Mode>(modes: readonly Mode[], key: DrawKey, round: number): Mode[] {
  const draw = drawStream(key, round, 0);
  return modes
    .map((mode, at) => ({ mode, at, rank: draw(at) }))
    .sort((a, b) => a.rank - b.rank || a.at - b.at)
    .map(({ mode }) => mode);
}

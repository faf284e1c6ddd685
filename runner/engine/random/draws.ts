// Named draws: what makes sampling independent of batching and scheduling. A key is derived from the job's seed and a
// purpose (a stage's rollouts, a suite's evaluation); the counter is (step, prompt, rollout, position).
import { createHash } from 'node:crypto';
import { philox } from './philox.ts';

export interface DrawKey {
  readonly words: readonly [number, number];
  readonly step: number;
}

/** `purpose` names the use, for example "rollouts/math": two purposes never share a draw. */
export function drawKey(seed: number, purpose: string, step: number): DrawKey {
  const digest = createHash('sha256').update(`${seed}/${purpose}`).digest();
  return { words: [digest.readInt32LE(0), digest.readInt32LE(4)], step };
}

/** Uniform draws in (0, 1) of one rollout, by position of the token in the response. */
export function drawStream(key: DrawKey, prompt: number, rollout: number): (position: number) => number {
  return (position) => unit(philox(key.words, [key.step, prompt, rollout, position])[0]);
}

/** 23 bits, centred in their cell: exact in float32, never 0 and never 1. */
const unit = (word: number): number => ((word >>> 9) + 0.5) / 0x800000;

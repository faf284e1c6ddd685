// Rollouts: G answers to each of P prompts, drawn from the policy as it stands. P: prompts of a step, G: rollouts of a group.
import type { Truncation } from '../../api/contract/truncation.ts';
import { drawStream } from '../engine/random/draws.ts';
import type { DrawKey } from '../engine/random/draws.ts';
import type { Completion, SampleOptions, SampleRequest } from '../engine/sampler/completion.ts';
import { OPEN } from '../engine/tokenizer/thinking.ts';
import { Diverged } from './diverged.ts';
import type { Policy } from './policy.ts';
import { promptOpensThinking } from './prompt.ts';

export interface Rollout {
  readonly prompt: Int32Array;
  /** The end token included where there is one. */
  readonly response: Int32Array;
  /** The sampler's log-probabilities at the sampling temperature. */
  readonly logProbs: Float32Array;
  readonly truncated: boolean;
  /**
   * What graders see: the response without its end token, after the tag of a think block that the prompt opened for it; else thinking
   * that never ended would be read as an answer. Any other special token stays visible, or it would be free.
   */
  readonly text: string;
}

export interface RolloutOptions extends Pick<SampleOptions, 'topK' | 'topP' | 'minP'> {
  readonly rollouts: number;
  readonly temperature: number;
  readonly maxResponse: number;
}

/** A spec's truncation as the sampler names it. */
export const truncationOf = ({ top_k, top_p, min_p }: Truncation) => ({
  topK: top_k,
  topP: top_p,
  minP: min_p,
});

export interface Sampling {
  /** Index of the first prompt, where a step samples in several rounds: no draw is ever used twice. */
  readonly first?: number;
  /** Told each rollout as soon as it is complete, with the places of its prompt and of itself in its group. */
  readonly onRollout?: (rollout: Rollout, p: number, g: number) => void;
}

/**
 * Draws depend on (key, prompt index, rollout, position) alone: not on batching, not on what ended first. Throws
 * `Diverged` where the model gives no probabilities.
 */
export async function sampleGroups(
  policy: Policy,
  prompts_P: readonly Int32Array[],
  options: RolloutOptions,
  key: DrawKey,
  { first = 0, onRollout }: Sampling = {},
): Promise<Rollout[][]> {
  const { rollouts: G, maxResponse, ...sampling } = options;
  const requests = prompts_P.flatMap((prompt, p) =>
    Array.from({ length: G }, (_, g): SampleRequest => ({
      prompt,
      maxTokens: maxResponse,
      draw: drawStream(key, first + p, g),
    })),
  );
  const { eosId } = policy.tokenizer;
  const rollouts_PG = prompts_P.map(() => new Array<Rollout>(G));
  const openings_P = prompts_P.map((prompt) => (promptOpensThinking(policy.tokenizer, prompt) ? OPEN : ''));
  await policy.sampler.generate(
    requests,
    { ...sampling, endIds: eosId === undefined ? [] : [eosId] },
    (i, completion) => {
      const [p, g] = [Math.floor(i / G), i % G];
      const rollout = rolloutOf(policy, prompts_P[p]!, openings_P[p]!, completion);
      rollouts_PG[p]![g] = rollout;
      onRollout?.(rollout, p, g);
    },
  );
  return rollouts_PG;
}

function rolloutOf(
  { tokenizer }: Policy,
  prompt: Int32Array,
  opening: string,
  { tokens, logProbs, ended }: Completion,
): Rollout {
  if (logProbs.some(Number.isNaN))
    throw new Diverged(
      'the log-probability of a sampled token is not a number: the model has diverged; lower the learning rate',
    );
  const said = tokenizer.decode([...(ended ? tokens.subarray(0, -1) : tokens)], { keepSpecial: true });
  return { prompt, response: tokens, logProbs, truncated: !ended, text: opening + said };
}

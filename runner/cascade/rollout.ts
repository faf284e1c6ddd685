// Rollouts: G answers to each of P prompts, drawn from the policy as it stands. P: prompts of a step, G: rollouts of a group.
import type { Truncation } from '../../api/contract/truncation.ts';
import { drawStream } from '../engine/random/draws.ts';
import type { DrawKey } from '../engine/random/draws.ts';
import type { SampleOptions, SampleRequest } from '../engine/sampler/completion.ts';
import { Diverged } from './diverged.ts';
import type { Policy } from './policy.ts';

export interface Rollout {
  readonly prompt: Int32Array;
  /** The end token included where there is one. */
  readonly response: Int32Array;
  /** The sampler's log-probabilities at the sampling temperature. */
  readonly logProbs: Float32Array;
  readonly truncated: boolean;
  /** What graders see: the response without its end token. Any other special token stays visible, or it would be free. */
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

/**
 * Draws depend on (key, prompt index, rollout, position) alone: not on batching, not on what ended first. Throws
 * `Diverged` where the model gives no probabilities.
 */
export async function sampleGroups(
  policy: Policy,
  prompts_P: readonly Int32Array[],
  options: RolloutOptions,
  key: DrawKey,
): Promise<Rollout[][]> {
  const { rollouts: G, maxResponse, ...sampling } = options;
  const requests = prompts_P.flatMap((prompt, p) =>
    Array.from({ length: G }, (_, g): SampleRequest => ({
      prompt,
      maxTokens: maxResponse,
      draw: drawStream(key, p, g),
    })),
  );
  const { eosId } = policy.tokenizer;
  const completions = await policy.sampler.generate(requests, {
    ...sampling,
    endIds: eosId === undefined ? [] : [eosId],
  });
  const rollouts = completions.map((completion, i): Rollout => {
    const { tokens, logProbs, ended } = completion;
    if (logProbs.some(Number.isNaN))
      throw new Diverged(
        'the log-probability of a sampled token is not a number: the model has diverged; lower the learning rate',
      );
    const text = policy.tokenizer.decode([...(ended ? tokens.subarray(0, -1) : tokens)], {
      keepSpecial: true,
    });
    return { prompt: requests[i]!.prompt, response: tokens, logProbs, truncated: !ended, text };
  });
  return prompts_P.map((_, p) => rollouts.slice(p * G, (p + 1) * G));
}

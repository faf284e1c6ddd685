// The k3 penalty that holds a policy to a reference (GRPO, arXiv 2402.03300; Schulman's k3): with r = pi_ref / pi of a sampled token
// the estimate is k3 = r - 1 - log r >= 0, unbiased for KL(pi || pi_ref), and beta * k3 is added to the loss. Its gradient,
// beta * (1 - r) * grad log pi, is that of an ascent weight beta * (r - 1): it stands beside the advantage, and shares in the loss
// as that does. On policy the mean of this gradient is the gradient of beta * KL(pi_ref || pi), not of the reverse that k3
// estimates; all who use k3 as a loss have it so. Both log-probabilities are at the sampling temperature, untruncated.
// Nothing is clamped: as a sampled token is likely under the policy, r is bounded by 1 / pi.
import type { TokenPair } from '../objective.ts';

export interface Pull {
  /** Of every response token of every pair: beta * (r - 1). */
  readonly pulls_T: readonly Float64Array[];
  /** Mean of k3 over all these tokens. */
  readonly kl: number;
}

/** `policy` and `reference` are log-probabilities by pair and token of prompt and response. */
export function klPull(
  beta: number,
  pairs: readonly TokenPair[],
  policy: readonly Float32Array[],
  reference: readonly Float32Array[],
): Pull {
  let total = 0;
  let tokens = 0;
  const pulls_T = pairs.map(({ prompt, response }, i) => {
    const pull_T = new Float64Array(response.length);
    for (let t = 0; t < response.length; t += 1) {
      const at = prompt.length + t;
      const logRatio = reference[i]![at]! - policy[i]![at]!;
      // expm1: near the reference r - 1 is all rounding.
      pull_T[t] = beta * Math.expm1(logRatio);
      total += Math.expm1(logRatio) - logRatio;
    }
    tokens += response.length;
    return pull_T;
  });
  return { pulls_T, kl: tokens === 0 ? 0 : total / tokens };
}

// From judged rollouts to the weights of their tokens: the stage's loss and, where it has one, the pull of its KL penalty, for
// which policy and reference score the batch before the update.
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import type { WeightedSequence } from '../../engine/learner/micro-batches.ts';
import { ascentWeights } from '../objective.ts';
import type { AdvantagedPair } from '../objective.ts';
import type { Policy } from '../policy.ts';
import { klPull } from './kl.ts';
import type { Reference } from './reference.ts';

export interface Weighing {
  readonly policy: Policy;
  readonly stage: Pick<ExpandedReinforcedStage, 'loss' | 'kl'>;
  /** Open; of a stage with a KL penalty. */
  readonly reference: Reference | undefined;
}

export interface Weighed {
  readonly sequences: readonly WeightedSequence[];
  /** `kl`: mean k3 estimate over the tokens that count, where the stage has a penalty. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** Every pair has an advantage and a response. */
export async function weigh(
  { policy, stage, reference }: Weighing,
  pairs: readonly AdvantagedPair[],
  temperature: number,
): Promise<Weighed> {
  const unheld = ascentWeights(stage.loss, pairs);
  if (reference === undefined || pairs.length === 0) return { sequences: unheld, metrics: {} };
  const at = { temperature };
  const { logProbs } = await policy.learner.score(unheld, at);
  const { pulls_T, kl } = klPull(stage.kl, pairs, logProbs, (await reference.score(unheld, at)).logProbs);
  const held = pairs.map((pair, i) => ({ ...pair, pull_T: pulls_T[i]! }));
  return { sequences: ascentWeights(stage.loss, held), metrics: { kl } };
}

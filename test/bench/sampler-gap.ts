// How far the sampler's log-probabilities lie from the trainer's for the same tokens: what an importance ratio would have
// to correct although the policy is the same.

import { Learner } from '../../runner/engine/learner/learner.ts';
import { initialWeights } from '../../runner/engine/models/initialize.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import { drawKey, drawStream } from '../../runner/engine/random/draws.ts';
import { SlotSampler } from '../../runner/engine/sampler/slot-sampler.ts';
import { llama400k, llama20m } from './models.ts';
import { summary } from './report.ts';
import type { BenchResult } from './report.ts';

const promptLength = 48;
const full = { config: llama20m, prompts: 8, rollouts: 8, maxTokens: 96 };
const reduced: typeof full = { config: llama400k, prompts: 2, rollouts: 4, maxTokens: 24 };

/** [P][G]: mean and largest absolute gap over a rollout's tokens. */
export async function measureSamplerGap(runtime: Runtime, small = false): Promise<BenchResult[]> {
  const { config, prompts, rollouts, maxTokens } = small ? reduced : full;
  const scope = new Scope();
  try {
    const learner = scope.own(await Learner.create(runtime, config, initialWeights(config, 1)));
    const sampler = scope.own(new SlotSampler(runtime, learner));
    const requests = Array.from({ length: prompts }, (_, p) => {
      const prompt = Int32Array.from(
        { length: promptLength - p },
        (_, t) => (p * 131 + t * 7) % config.vocabSize,
      );
      return Array.from({ length: rollouts }, (_, g) => ({
        prompt,
        maxTokens,
        draw: drawStream(drawKey(1, 'bench', 0), p, g),
      }));
    }).flat();
    const completions = await sampler.generate(requests, { temperature: 1, endIds: [] });
    const sequences = completions.map(({ tokens }, i) => {
      const { prompt } = requests[i]!;
      const tokens_T = Int32Array.from([...prompt, ...tokens]);
      return { tokens_T, weights_T: new Float32Array(tokens_T.length), scoredFrom: prompt.length };
    });
    const { logProbs } = await learner.score(sequences, { temperature: 1 });
    const gaps = completions.map(({ logProbs: sampled }, i) =>
      Array.from(sampled, (x, t) => Math.abs(x - logProbs[i]![requests[i]!.prompt.length + t]!)),
    );
    return [
      summary(
        'sampler_trainer_gap_mean',
        'nats',
        gaps.map((ofRollout) => ofRollout.reduce((sum, gap) => sum + gap, 0) / ofRollout.length),
        { goal: 1e-4 },
      ),
      summary(
        'sampler_trainer_gap_max',
        'nats',
        gaps.map((ofRollout) => Math.max(...ofRollout)),
      ),
    ];
  } finally {
    scope[Symbol.dispose]();
  }
}

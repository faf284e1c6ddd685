// The model in training, by the three things a stage does with it: turn text into tokens, sample, learn.
// Learner and sampler share one set of weights, so every rollout comes from the newest policy.
import type { Learner } from '../engine/learner/learner.ts';
import type { Sampler } from '../engine/sampler/completion.ts';
import type { Tokenizer } from '../engine/tokenizer/tokenizer.ts';

export interface Policy {
  readonly tokenizer: Tokenizer;
  readonly learner: Learner;
  readonly sampler: Sampler;
}

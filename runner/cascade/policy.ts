// The model in training, by the three things a stage does with it: turn text into tokens, sample, learn.
// Learner and sampler share one set of weights, so every rollout comes from the newest policy.
import type { Learner } from '../engine/learner/learner.ts';
import type { Sampler } from '../engine/sampler/completion.ts';
import type { ThinkingControl } from '../engine/tokenizer/thinking.ts';
import type { Tokenizer } from '../engine/tokenizer/tokenizer.ts';

export interface Policy {
  readonly tokenizer: Tokenizer;
  readonly learner: Learner;
  readonly sampler: Sampler;
  /** How prompts ask for a mode; undefined: as the model's template offers. */
  readonly thinkingControl?: ThinkingControl | undefined;
}

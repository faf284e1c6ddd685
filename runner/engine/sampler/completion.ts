// What the sampler takes and gives: token ids in, token ids out. Nothing here is ever decoded and encoded again.

import type { StopStrings } from './stop-strings.ts';

export interface SampleRequest {
  /** Neighbouring requests that hold the same array share one computation of the prompt (the rollouts of a group). */
  readonly prompt: Int32Array;
  /** Response tokens at most, the end token included. */
  readonly maxTokens: number;
  /** Uniform in (0, 1) for the response token at `position` (0 for the first); must depend on nothing but its key and position. */
  readonly draw: (position: number) => number;
}

export interface Completion {
  /** The end token included where the model gave one. */
  readonly tokens: Int32Array;
  /** Log-probability of each token under softmax(logits / T), untruncated. At T = 0 (greedy) under softmax(logits). */
  readonly logProbs: Float32Array;
  /** The same under what each token was drawn from: biased, at T, truncated, renormalised. Greedy: 0. */
  readonly samplingLogProbs: Float32Array;
  /** The same under softmax(logits): unbiased, untruncated, at temperature 1. */
  readonly logProbsAtOne: Float32Array;
  /** false: cut off at maxTokens. */
  readonly ended: boolean;
  /** The stop string that ended it; its last token is among `tokens`, whatever text it holds beside. */
  readonly stop?: string;
}

export interface SampleOptions {
  /** 0 is greedy. */
  readonly temperature: number;
  /** Token ids that end a response. */
  readonly endIds: readonly number[];
  /** Words kept by likelihood, after the temperature; 0 (default): all. */
  readonly topK?: number;
  /** Share kept by likelihood of what top-k left, in (0, 1]; 1 (default): all. */
  readonly topP?: number;
  /** Words kept are at least so many times as likely as the likeliest, in [0, 1]; 0 (default): all. */
  readonly minP?: number;
  /** Added to the logits of token ids before the temperature. Only `samplingLogProbs` know of it. */
  readonly logitBias?: ReadonlyMap<number, number>;
  /** Texts that end a response. */
  readonly stop?: StopStrings;
}

/** A request that joins a batch at work, and who hears of its answer. */
export interface JoiningRequest extends SampleRequest {
  /** Told every token as soon as it is drawn; `false` ends the response with it. */
  readonly onToken?: (token: number) => boolean;
  readonly onEnd: (completion: Completion) => void;
}

export interface Sampler extends Disposable {
  /**
   * Completions in the order of the requests, whatever order they ran in; `onCompletion` is told each, with its place, as soon
   * as it is there, while others are still being decoded. What it throws ends the call.
   */
  generate(
    requests: readonly SampleRequest[],
    options: SampleOptions,
    onCompletion?: (index: number, completion: Completion) => void,
  ): Promise<Completion[]>;
}

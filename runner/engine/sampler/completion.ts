// What the sampler takes and gives: token ids in, token ids out. Nothing here is ever decoded and encoded again.

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
  /** false: cut off at maxTokens. */
  readonly ended: boolean;
}

export interface SampleOptions {
  /** 0 is greedy. */
  readonly temperature: number;
  /** Token ids that end a response. */
  readonly endIds: readonly number[];
}

export interface Sampler extends Disposable {
  /** Completions in the order of the requests, whatever order they ran in. */
  generate(requests: readonly SampleRequest[], options: SampleOptions): Promise<Completion[]>;
}

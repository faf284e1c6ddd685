// Continuous batching over slots: a request takes a slot, its prompt's cache is computed once for its group and copied in,
// and every step advances all slots by one token. A slot that ends is given to the next request; when none waits, the
// slots still at work move together and the batch halves. Limits: float32; one set of options for all requests of a call.
import { bucketLength } from '../learner/micro-batches.ts';
import type { DecoderConfig } from '../models/config.ts';
import type { Runtime } from '../ort/runtime.ts';
import type { Completion, JoiningRequest, SampleOptions, SampleRequest, Sampler } from './completion.ts';
import { SamplingPrograms } from './programs.ts';
import { powerOfTwoAbove, SlotRun } from './slot-run.ts';
import { checkOptions } from './settings.ts';
import { samplerWeights } from './sampled-model.ts';
import type { SampledModel, SamplerWeights } from './sampled-model.ts';
import { defaultSlotLimits } from './slot-limits.ts';
import type { SlotLimits } from './slot-limits.ts';

export class SlotSampler implements Sampler {
  readonly #runtime: Runtime;
  readonly #config: DecoderConfig;
  readonly #limits: SlotLimits;
  readonly #weights: SamplerWeights;
  #programs: SamplingPrograms | undefined;

  /** Throws where the model cannot be sampled from. */
  constructor(runtime: Runtime, model: SampledModel, limits: SlotLimits = defaultSlotLimits) {
    this.#runtime = runtime;
    checkHeads(model.config);
    this.#config = model.config;
    this.#limits = limits;
    this.#weights = samplerWeights(model);
  }

  async generate(
    requests: readonly SampleRequest[],
    options: SampleOptions,
    onCompletion?: (index: number, completion: Completion) => void,
  ): Promise<Completion[]> {
    if (requests.length === 0) return [];
    checkOptions(options, this.#config.vocabSize);
    requests.forEach((request, i) => this.#check(request, i));
    const longest = requests.reduce(
      (most, { prompt, maxTokens }) => Math.max(most, prompt.length + maxTokens),
      0,
    );
    const programs = await this.#programsFor(
      requests.length,
      Math.min(bucketLength(longest), bucketLength(this.#config.maxPositions)),
    );
    const completions = new Array<Completion>(requests.length);
    const waiting = requests
      .map((request, i): JoiningRequest => ({
        ...request,
        onEnd: (completion) => {
          completions[i] = completion;
          onCompletion?.(i, completion);
        },
      }))
      .reverse();
    await new SlotRun(programs, options, powerOfTwoAbove(waiting.length), () => waiting.pop()).run();
    return completions;
  }

  /**
   * Answers what `next` gives, which is asked before every step, until nothing is at work and it gives nothing. Prompt and
   * response of a request hold at most `capacity` tokens together. RangeError from here ends the run: check before.
   */
  async generateJoining(
    next: () => JoiningRequest | undefined,
    options: SampleOptions,
    { rows, capacity }: { readonly rows: number; readonly capacity: number },
  ): Promise<void> {
    checkOptions(options, this.#config.vocabSize);
    const programs = await this.#programsFor(rows, capacity);
    const checked = (): JoiningRequest | undefined => {
      const request = next();
      if (request !== undefined) this.#check(request, 0, capacity);
      return request;
    };
    await new SlotRun(programs, options, rows, checked).run();
  }

  [Symbol.dispose](): void {
    this.#programs?.[Symbol.dispose]();
    this.#programs = undefined;
  }

  #check({ prompt, maxTokens }: SampleRequest, i: number, capacity = Infinity): void {
    const limit = Math.min(capacity, this.#config.maxPositions);
    if (prompt.length === 0)
      throw new RangeError(`request ${i}: the prompt has no token; begin it with the model's BOS`);
    if (maxTokens < 1) throw new RangeError(`request ${i}: maxTokens is ${maxTokens}, it must be at least 1`);
    if (prompt.length + maxTokens > limit) {
      throw new RangeError(
        `request ${i}: ${prompt.length} prompt tokens and ${maxTokens} response tokens exceed the model's ${limit} positions`,
      );
    }
  }

  /** Caches and sessions are kept while they suffice: a run's steps are of like shape. */
  async #programsFor(requests: number, capacity: number): Promise<SamplingPrograms> {
    const within = Math.max(1, Math.floor(this.#limits.cacheTokens / capacity));
    const rows = Math.min(
      powerOfTwoAbove(requests),
      2 ** Math.floor(Math.log2(Math.min(this.#limits.rows, within))),
    );
    const { cache } = this.#programs ?? {};
    if (cache === undefined || cache.capacity !== capacity || cache.rows < rows) {
      this.#programs?.[Symbol.dispose]();
      this.#programs = undefined;
      this.#programs = await SamplingPrograms.create(
        this.#runtime,
        this.#config,
        this.#weights,
        rows,
        capacity,
      );
    }
    return this.#programs!;
  }
}

/** Throws on a model without logits, and on what attention over caches has no kernel for in ONNX Runtime. */
function checkHeads({ headSize, scalarHead = false }: DecoderConfig): void {
  if (scalarHead) throw new RangeError('a reward model has a scalar head: there is nothing to sample from');
  if (headSize % 8 !== 0)
    throw new RangeError(
      `sampling needs a head size that is a multiple of 8 (GroupQueryAttention), this model has ${headSize}: choose another head_dim, or hidden_size / num_attention_heads`,
    );
}

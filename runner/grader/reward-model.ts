// A scalar reward model as a function of prompt and answer: the value taken at the last token of both, as transformers'
// *ForSequenceClassification take it.
import { Scorer } from '../engine/learner/scorer.ts';
import type { Runtime } from '../engine/ort/runtime.ts';
import { scoredTokens } from '../engine/tokenizer/scored-tokens.ts';
import type { Tokenizer } from '../engine/tokenizer/tokenizer.ts';
import type { AnswerToScore, ModelScore } from '../rewards/preference.ts';
import type { LoadedModel } from './read-model.ts';

type Tokenized = { readonly tokens_T: Int32Array; readonly cutFrom?: number } | { readonly fault: string };

export class RewardModel implements Disposable {
  readonly #tokenizer: Tokenizer;
  readonly #scorer: Scorer;

  private constructor(tokenizer: Tokenizer, scorer: Scorer) {
    this.#tokenizer = tokenizer;
    this.#scorer = scorer;
  }

  /** Copies the weights. Throws where the model has no scalar head. */
  static async create(
    runtime: Runtime,
    { config, weights, tokenizer }: Pick<LoadedModel, 'config' | 'weights' | 'tokenizer'>,
  ): Promise<RewardModel> {
    if (config.scalarHead !== true)
      throw new Error(
        'the model has a language head: a reward model is a …ForSequenceClassification of one label, with score.weight',
      );
    return new RewardModel(tokenizer, await Scorer.create(runtime, config, weights));
  }

  /** In padded batches of what memory holds. An item that cannot be tokenized has a fault, the others their values. */
  async score(items: readonly AnswerToScore[]): Promise<ModelScore[]> {
    const { maxPositions } = this.#scorer.config;
    const tokenized = items.map((item) => tokenize(this.#tokenizer, item, maxPositions));
    const sequences = tokenized.flatMap((one) => ('fault' in one ? [] : [one.tokens_T]));
    const values = await this.#scorer.values(sequences);
    let next = 0;
    return tokenized.map((one) =>
      'fault' in one
        ? one
        : {
            value: values[next++]!,
            ...(one.cutFrom === undefined ? {} : { cutFrom: one.cutFrom }),
          },
    );
  }

  [Symbol.dispose](): void {
    this.#scorer[Symbol.dispose]();
  }
}

/** An answer that the model has no positions for is cut: the value is then that of an answer which does not end. */
function tokenize(tokenizer: Tokenizer, { prompt, answer }: AnswerToScore, positions: number): Tokenized {
  try {
    const { ids, promptLength } = scoredTokens(tokenizer, prompt, answer);
    if (ids.length === 0) return { fault: 'prompt and answer have no token to take a value at' };
    if (ids.length <= positions) return { tokens_T: Int32Array.from(ids) };
    if (promptLength >= positions)
      return { fault: `the prompt's ${promptLength} tokens fill the reward model's ${positions} positions` };
    return { tokens_T: Int32Array.from(ids.slice(0, positions)), cutFrom: ids.length };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}

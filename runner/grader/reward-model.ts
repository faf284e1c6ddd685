// A scalar reward model as a function of prompt and answer: both in the model's own chat template (or one after the other where
// it has none), the value taken at the last token, as transformers' *ForSequenceClassification take it.
import type { Message, Prompt } from '../../api/contract/task.ts';
import { Scorer } from '../engine/learner/scorer.ts';
import type { Runtime } from '../engine/ort/runtime.ts';
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
    const { ids, promptLength } = tokens(tokenizer, prompt, withoutSpecials(tokenizer, answer));
    if (ids.length === 0) return { fault: 'prompt and answer have no token to take a value at' };
    if (ids.length <= positions) return { tokens_T: Int32Array.from(ids) };
    if (promptLength >= positions)
      return { fault: `the prompt's ${promptLength} tokens fill the reward model's ${positions} positions` };
    return { tokens_T: Int32Array.from(ids.slice(0, positions)), cutFrom: ids.length };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}

function tokens(
  tokenizer: Tokenizer,
  prompt: Prompt,
  answer: string,
): { readonly ids: readonly number[]; readonly promptLength: number } {
  if (!tokenizer.hasChatTemplate) return rawTokens(tokenizer, prompt, answer);
  const before: Message[] = typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt;
  const whole = [...before, { role: 'assistant', content: answer }];
  return {
    ids: tokenizer.encodeChat(whole, { addGenerationPrompt: false }),
    promptLength: tokenizer.encodeChat(before, { addGenerationPrompt: true }).length,
  };
}

function rawTokens(tokenizer: Tokenizer, prompt: Prompt, answer: string) {
  if (typeof prompt !== 'string')
    throw new Error('the reward model has no chat template: prompts must be strings, not messages');
  const before = tokenizer.encode(prompt);
  const end = tokenizer.eosId === undefined ? [] : [tokenizer.eosId];
  return { ids: [...before, ...tokenizer.encodeExact(answer), ...end], promptLength: before.length };
}

/**
 * An answer that spells the template's own marks could write further turns, praise included: such marks are left out, and
 * with them what the vocabulary does not know. Any other answer stays the text that it is.
 */
function withoutSpecials(tokenizer: Tokenizer, answer: string): string {
  const ids = tokenizer.encodeExact(answer);
  const plain = tokenizer.decode(ids);
  if (plain === tokenizer.decode(ids, { keepSpecial: true })) return answer;
  // What remains could spell a mark anew.
  return withoutSpecials(tokenizer, plain);
}

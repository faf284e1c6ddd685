// Prompt and answer as the tokens that a reward model values at the last of them: both in the model's own chat template, or one
// after the other, ended, where it has none. The one place for it: a model is trained on what it is later asked.
import type { ChatMessage, Tokenizer } from './tokenizer.ts';

export interface ScoredTokens {
  readonly ids: readonly number[];
  /** Of the prompt up to where an answer begins. */
  readonly promptLength: number;
}

/**
 * `answer` is what is judged of a response. The template does what it does by itself: no thinking mode is asked for. Throws for
 * what the tokenizer or the template refuses.
 */
export function scoredTokens(
  tokenizer: Tokenizer,
  prompt: string | readonly ChatMessage[],
  answer: string,
): ScoredTokens {
  const plain = withoutSpecials(tokenizer, answer);
  if (!tokenizer.hasChatTemplate) return rawTokens(tokenizer, prompt, plain);
  const before = typeof prompt === 'string' ? [{ role: 'user', content: prompt } as const] : prompt;
  const whole = [...before, { role: 'assistant', content: plain } as const];
  return {
    ids: tokenizer.encodeChat(whole, { addGenerationPrompt: false }),
    promptLength: tokenizer.encodeChat(before, { addGenerationPrompt: true }).length,
  };
}

function rawTokens(tokenizer: Tokenizer, prompt: string | readonly ChatMessage[], answer: string) {
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

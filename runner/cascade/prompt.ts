// Prompts and conversations to token ids. A string is one user message where the model has a chat template, else raw
// text; `prompt_format` overrides. BOS is never doubled: a template writes its own special tokens.
import { DataError } from '../data/error.ts';
import type { PromptFormat } from '../../api/contract/stages/common.ts';
import type { Message, Prompt, SftRow, Task } from '../../api/contract/task.ts';
import { opensThinking, renderThinking } from '../engine/tokenizer/thinking.ts';
import type { ThinkingControl, ThinkingMode } from '../engine/tokenizer/thinking.ts';
import type { ChatOptions, Tokenizer } from '../engine/tokenizer/tokenizer.ts';
import type { TokenPair } from './objective.ts';
import type { Policy } from './policy.ts';

export interface PromptMode {
  readonly mode: ThinkingMode;
  /** Default: what the model's template offers. */
  readonly control?: ThinkingControl | undefined;
}

/** What a stage or suite that asks for `mode` makes its prompts ask for; undefined where it asks for none. */
export const promptMode = (
  { thinkingControl }: Pick<Policy, 'thinkingControl'>,
  mode: ThinkingMode | undefined,
): PromptMode | undefined => (mode === undefined ? undefined : { mode, control: thinkingControl });

/** Ids up to where the answer begins. Without `thinking` the template does what it does by itself; raw text has no mode. */
export function promptTokens(
  tokenizer: Tokenizer,
  prompt: Prompt,
  format: PromptFormat,
  thinking?: PromptMode,
): Int32Array {
  if (typeof prompt === 'string' && !asChat(tokenizer, format))
    return Int32Array.from(tokenizer.encode(prompt));
  if (!tokenizer.hasChatTemplate)
    throw new DataError(
      'the model has no chat template: prompts must be strings, read with prompt_format "raw"',
    );
  if (format === 'raw') throw new DataError('prompt_format "raw" takes string prompts, not messages');
  const messages = typeof prompt === 'string' ? [{ role: 'user', content: prompt } as const] : prompt;
  const text = render(tokenizer, messages, { addGenerationPrompt: true }, thinking);
  return Int32Array.from(tokenizer.encodeRendered(text));
}

/** Does the response to these prompt tokens begin inside a think block? */
export const promptOpensThinking = (tokenizer: Tokenizer, prompt_T: Int32Array): boolean =>
  opensThinking(tokenizer.decode([...prompt_T.subarray(-TAG_TOKENS)], { keepSpecial: true }));

/** Tokens of "<think>" and the space after it, at most: characters where the vocabulary has no longer words. */
const TAG_TOKENS = 16;

function render(
  tokenizer: Tokenizer,
  messages: readonly Message[],
  options: ChatOptions,
  thinking: PromptMode | undefined,
): string {
  if (thinking === undefined) return tokenizer.renderChat(messages, options);
  const { mode, control = tokenizer.thinkingControl } = thinking;
  return renderThinking(tokenizer, messages, options, { control, mode });
}

export interface RoomyPrompts {
  readonly format: PromptFormat;
  readonly maxResponse: number;
  readonly mode?: ThinkingMode | undefined;
}

/**
 * Prompts of all rows, each with room for its response. Throws DataError naming the row that has none; `where` is the
 * stage or suite and its dataset.
 */
export function roomyPrompts(
  policy: Pick<Policy, 'tokenizer' | 'learner' | 'thinkingControl'>,
  rows: readonly Task[],
  { format, maxResponse, mode }: RoomyPrompts,
  where: string,
): Int32Array[] {
  const { tokenizer, learner } = policy;
  const thinking = promptMode(policy, mode);
  return rows.map(({ prompt }, index) => {
    const at = `${where}, row ${index}`;
    const tokens_T = tokensOfRow(at, () => promptTokens(tokenizer, prompt, format, thinking));
    if (tokens_T.length === 0)
      throw new DataError(`${at}: the prompt has no token to answer; begin it with the model's BOS`);
    if (tokens_T.length + maxResponse > learner.maxLength) {
      const remedy = tokens_T.length < learner.maxLength ? 'lower max_response, or ' : '';
      throw new DataError(
        `${at}: ${tokens_T.length} prompt tokens and max_response ${maxResponse} exceed the model's ${learner.maxLength} positions: ${remedy}leave such rows out`,
      );
    }
    return tokens_T;
  });
}

/** What a row's text makes the tokenizer or the chat template refuse is the row's fault, and named with its place. */
export function tokensOfRow<T>(at: string, tokenize: () => T): T {
  try {
    return tokenize();
  } catch (cause) {
    throw new DataError(`${at}: ${(cause as Error).message}`, { cause });
  }
}

/** A conversation as (everything before the last answer, the last answer with its end): only the latter is learnt. */
export function conversationTokens(
  tokenizer: Tokenizer,
  messages: readonly Message[],
  format: PromptFormat,
  thinking?: PromptMode,
): TokenPair {
  const answer = messages.at(-1)?.content ?? '';
  const before = messages.slice(0, -1);
  if (!asChat(tokenizer, format)) {
    const [only, ...more] = before;
    if (only === undefined || more.length > 0)
      throw new DataError('without a chat template a conversation is one user message and one answer');
    return {
      prompt: Int32Array.from(tokenizer.encode(only.content)),
      response: ended(tokenizer, tokenizer.encodeExact(answer)),
    };
  }
  const prompt = render(tokenizer, before, { addGenerationPrompt: true }, thinking);
  const whole = render(tokenizer, messages, { addGenerationPrompt: false }, thinking);
  const promptIds = Int32Array.from(tokenizer.encodeRendered(prompt));
  // A template that only adds text after the prompt also says how an answer ends; from any other we take the answer as it
  // stands and end it with the end token.
  const continues = whole.startsWith(prompt) && whole.length > prompt.length + answer.length;
  const response = continues
    ? upToEnd(tokenizer, tokenizer.encodeExact(whole.slice(prompt.length)))
    : ended(tokenizer, tokenizer.encodeExact(answer));
  return { prompt: promptIds, response };
}

export interface AnswerPairs {
  readonly format: PromptFormat;
  /** Tokens of a whole conversation, at most; longer ones are refused, never cut. */
  readonly maxLength: number;
  readonly mode?: ThinkingMode | undefined;
}

/** Conversations as prompts and last answers. Throws DataError naming the row; `where` is the stage or suite and its dataset. */
export function answerPairs(
  policy: Pick<Policy, 'tokenizer' | 'learner' | 'thinkingControl'>,
  rows: readonly SftRow[],
  { format, maxLength, mode }: AnswerPairs,
  where: string,
): TokenPair[] {
  const { tokenizer, learner } = policy;
  const thinking = promptMode(policy, mode);
  const limit = Math.min(maxLength, learner.maxLength);
  return rows.map(({ messages }, index) => {
    const at = `${where}, row ${index}`;
    const pair = tokensOfRow(at, () => conversationTokens(tokenizer, messages, format, thinking));
    if (pair.prompt.length === 0)
      throw new DataError(`${at}: no token comes before the answer; begin with the model's BOS`);
    const length = pair.prompt.length + pair.response.length;
    if (length > limit)
      throw new DataError(
        `${at}: ${length} tokens, more than the limit of ${limit} (max_length, or the model's own)`,
      );
    return pair;
  });
}

/** What a template writes after the end token (ChatML's line break) is never sampled, so it is not learnt either. */
function upToEnd(tokenizer: Tokenizer, ids: readonly number[]): Int32Array {
  const end = tokenizer.eosId === undefined ? -1 : ids.lastIndexOf(tokenizer.eosId);
  return Int32Array.from(end === -1 ? ids : ids.slice(0, end + 1));
}

function asChat(tokenizer: Tokenizer, format: PromptFormat): boolean {
  return format === 'chat' || (format === 'auto' && tokenizer.hasChatTemplate);
}

function ended(tokenizer: Tokenizer, ids: readonly number[]): Int32Array {
  if (tokenizer.eosId === undefined)
    throw new DataError('the tokenizer names no eos_token, so the model could never learn to stop');
  return Int32Array.from([...ids, tokenizer.eosId]);
}

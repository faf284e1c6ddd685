// From a chat request to what the engine needs: token ids of the prompt, room for the answer, how words are drawn. What the
// model cannot do is refused here, before anything is computed.
import { randomInt } from 'node:crypto';
import type { ChatMessage, ChatRequest } from '../../api/contract/chat.ts';
import { opensThinking, renderThinking } from '../engine/tokenizer/thinking.ts';
import type { ThinkingMode } from '../engine/tokenizer/thinking.ts';
import type { ChatMessage as TemplateMessage, Tokenizer } from '../engine/tokenizer/tokenizer.ts';
import type { ChatModel, SamplingDefaults } from './model.ts';
import { RequestRefused } from './refused.ts';

export interface Sampling extends SamplingDefaults {
  /** By token id, in the order of ids. */
  readonly logitBias: ReadonlyMap<number, number>;
}

export interface Prepared {
  readonly prompt: Int32Array;
  /** Tokens of an answer at most, the end token included. */
  readonly maxTokens: number;
  readonly sampling: Sampling;
  /** The prompt already began a think block. */
  readonly opened: boolean;
  readonly stop: readonly string[];
  /** Answers to give. */
  readonly choices: number;
  readonly seed: number;
}

/** @throws RequestRefused naming the field. */
export function prepare(model: ChatModel, request: ChatRequest, contextTokens: number): Prepared {
  const text = render(model.tokenizer, request);
  refuseEndless(text, contextTokens * model.tokenizer.longestToken, contextTokens);
  const prompt = Int32Array.from(
    model.tokenizer.hasChatTemplate ? model.tokenizer.encodeRendered(text) : model.tokenizer.encode(text),
  );
  if (prompt.length === 0)
    throw new RequestRefused('invalid_spec', 'the messages make a prompt without any token', '/messages');
  return {
    prompt,
    maxTokens: roomFor(prompt.length, request, contextTokens),
    sampling: samplingOf(model, request),
    opened: opensThinking(text),
    stop: [request.stop ?? []].flat(),
    choices: request.n ?? 1,
    seed: request.seed ?? randomInt(2 ** 47),
  };
}

/** Before it is encoded, which would hold up every other answer for seconds a million characters. */
function refuseEndless(text: string, most: number, context: number): void {
  if (text.length > most)
    throw new RequestRefused(
      'context_length_exceeded',
      `the messages are ${text.length} characters, of which the context of ${context} tokens holds ${most} at most`,
      '/messages',
    );
}

const textOf = ({ content }: ChatMessage): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('');

function templateMessage(message: ChatMessage): TemplateMessage {
  const { role, reasoning_content } = message;
  return {
    role: role === 'developer' ? 'system' : role,
    content: textOf(message),
    ...(typeof reasoning_content === 'string' ? { reasoning_content } : {}),
  };
}

function render(tokenizer: Tokenizer, { messages, chat_template_kwargs }: ChatRequest): string {
  const control = tokenizer.thinkingControl;
  const wanted = chat_template_kwargs?.enable_thinking ?? control !== 'none';
  if (wanted && control === 'none')
    throw new RequestRefused(
      'invalid_spec',
      'the model has no thinking mode: leave enable_thinking out',
      '/chat_template_kwargs/enable_thinking',
    );
  if (!tokenizer.hasChatTemplate) return rawText(messages);
  const mode: ThinkingMode = wanted ? 'thinking' : 'non_thinking';
  try {
    return renderThinking(
      tokenizer,
      messages.map(templateMessage),
      { addGenerationPrompt: true },
      { control, mode },
    );
  } catch (cause) {
    throw new RequestRefused('invalid_spec', (cause as Error).message, '/messages');
  }
}

/** A model without a chat format continues a text. */
function rawText(messages: readonly ChatMessage[]): string {
  const [only, ...more] = messages;
  if (only?.role !== 'user' || more.length > 0)
    throw new RequestRefused(
      'invalid_spec',
      'the model has no chat template: it continues a text, so send one message of the user and nothing else',
      '/messages',
    );
  return textOf(only);
}

function roomFor(prompt: number, request: ChatRequest, context: number): number {
  const asked = request.max_completion_tokens ?? request.max_tokens ?? undefined;
  if (prompt >= context)
    throw new RequestRefused(
      'context_length_exceeded',
      `the messages are ${prompt} tokens, the context has room for ${context} with the answer`,
      '/messages',
    );
  if (asked !== undefined && prompt + asked > context)
    throw new RequestRefused(
      'context_length_exceeded',
      `${prompt} tokens of messages and ${asked} of the answer exceed the context of ${context} tokens`,
      typeof request.max_completion_tokens === 'number' ? '/max_completion_tokens' : '/max_tokens',
    );
  return asked ?? context - prompt;
}

function samplingOf({ config, defaults }: ChatModel, request: ChatRequest): Sampling {
  const bias = Object.entries(request.logit_bias ?? {}).map(([id, value]) => [Number(id), value] as const);
  const beyond = bias.find(([id]) => id >= config.vocabSize);
  if (beyond !== undefined)
    throw new RequestRefused(
      'invalid_spec',
      `token ${beyond[0]}: the model has the ids 0 to ${config.vocabSize - 1}`,
      `/logit_bias/${beyond[0]}`,
    );
  return {
    temperature: request.temperature ?? defaults.temperature,
    topK: request.top_k ?? defaults.topK,
    topP: request.top_p ?? defaults.topP,
    minP: request.min_p ?? defaults.minP,
    logitBias: new Map(bias.sort(([a], [b]) => a - b)),
  };
}

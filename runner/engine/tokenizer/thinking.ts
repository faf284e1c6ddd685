// Thinking and non-thinking in one model: how a prompt asks for either, and how a response splits into thinking and answer.
// `template`: the template's variable `enable_thinking` and the empty think block (Qwen3, Nemotron-Cascade 2).
// `flags`: " /think" or " /no_think" after each user turn and no empty block (Nemotron-Cascade 1, section 3.1.2).
// `none`: the model has one mode. Pure functions: training, evaluation and serving ask in the same words.
import type { ChatMessage, ChatOptions, Tokenizer } from './tokenizer.ts';

export type ThinkingControl = 'template' | 'flags' | 'none';
export type ThinkingMode = 'thinking' | 'non_thinking';

export interface Thinking {
  readonly control: ThinkingControl;
  readonly mode: ThinkingMode;
}

export const OPEN = '<think>';
const CLOSE = '</think>';
const EMPTY_BLOCK = `${OPEN}\n\n${CLOSE}\n\n`;

const flags: Readonly<Record<ThinkingMode, string>> = { thinking: ' /think', non_thinking: ' /no_think' };

/** The control that a template (Jinja source) itself offers: its switch before its flags, `none` where it has neither. */
export function templateThinkingControl(template: string | undefined): ThinkingControl {
  const code = (template ?? '').replaceAll(/\{#[\s\S]*?#\}/g, '');
  if (/\benable_thinking\b/.test(code)) return 'template';
  return code.includes('/no_think') ? 'flags' : 'none';
}

/** Every user turn ends with the mode's flag, in place of one that it may already end with. */
export function flagMessages(messages: readonly ChatMessage[], mode: ThinkingMode): ChatMessage[] {
  return messages.map((message) =>
    message.role === 'user'
      ? { ...message, content: `${message.content.replace(/ \/(?:no_)?think$/, '')}${flags[mode]}` }
      : message,
  );
}

/** Does the response to this prompt begin inside a think block? */
export const opensThinking = (prompt: string): boolean => /<think>\s*$/.test(prompt);

/** Does the prompt end with an empty think block? */
export const skipsThinking = (prompt: string): boolean => /<think>\s*<\/think>\s*$/.test(prompt);

/**
 * The chat as text, with what asks for the mode. `template` without a switch in the template: a block that the template
 * opens is closed for non-thinking, and where it opens none the empty block is added. Throws for thinking under `none`.
 */
export function renderThinking(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  options: ChatOptions,
  { control, mode }: Thinking,
): string {
  switch (control) {
    case 'none':
      if (mode === 'thinking')
        throw new Error(
          'the only mode is non_thinking: thinking_control is "none", which it also is where the chat template offers no control; say model.thinking_control in the spec, or ask for no thinking',
        );
      return tokenizer.renderChat(messages, options);
    case 'flags':
      return tokenizer.renderChat(flagMessages(messages, mode), options);
    case 'template': {
      const variables = { ...options.variables, enable_thinking: mode === 'thinking' };
      const text = tokenizer.renderChat(messages, { ...options, variables });
      return mode === 'non_thinking' && options.addGenerationPrompt ? withoutThinking(text) : text;
    }
  }
}

function withoutThinking(prompt: string): string {
  if (skipsThinking(prompt)) return prompt;
  return opensThinking(prompt) ? prompt.replace(/<think>\s*$/, EMPTY_BLOCK) : prompt + EMPTY_BLOCK;
}

export interface SplitResponse {
  /** Inside the block; undefined where the response has none. */
  readonly thinking: string | undefined;
  /** After the block, or all of it where there is none; undefined where the block was never closed: there is no answer. */
  readonly answer: string | undefined;
}

/**
 * A response as text, its end token left out. `opened`: the prompt already began the block (`opensThinking`). The first
 * closing tag ends the block; only a tag at the very start opens one.
 */
export function splitThinking(response: string, opened: boolean): SplitResponse {
  const body = response.trimStart();
  const opens = body.startsWith(OPEN);
  if (!opened && !opens) return { thinking: undefined, answer: response };
  const inside = opens ? body.slice(OPEN.length) : response;
  const end = inside.indexOf(CLOSE);
  if (end === -1) return { thinking: inside.trim(), answer: undefined };
  return {
    thinking: inside.slice(0, end).trim(),
    answer: inside.slice(end + CLOSE.length).replace(/^\n+/, ''),
  };
}

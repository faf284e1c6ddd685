// Text to token ids and back, and chats to text, exactly as the model's own files say.
// Token-in token-out everywhere else: nothing decodes and re-encodes, since that is not an identity.

import { Template } from '@huggingface/jinja';
import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { join } from 'node:path';
import { readTokenizerFiles } from './files.ts';
import type { TokenizerFiles } from './files.ts';
import { templateThinkingControl } from './thinking.ts';
import type { ThinkingControl } from './thinking.ts';

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
  readonly [field: string]: unknown;
}

export interface ChatOptions {
  /** Ends the text where the assistant's answer begins. */
  readonly addGenerationPrompt: boolean;
  /** Functions that the model may call, as JSON schemas in the form that the template expects (OpenAI's for most). */
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  /** Further template variables, e.g. `{ enable_thinking: false }`. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

function construct(files: TokenizerFiles): HuggingFaceTokenizer {
  try {
    return new HuggingFaceTokenizer(files.model, files.config);
  } catch (cause) {
    throw new Error(
      `${join(files.source, 'tokenizer.json')}: unknown or malformed tokenizer: ${(cause as Error).message}`,
      { cause },
    );
  }
}

function compile(files: TokenizerFiles): Template | undefined {
  if (files.chatTemplate === undefined) return undefined;
  try {
    return new Template(files.chatTemplate);
  } catch (cause) {
    throw new Error(`${files.source}: malformed chat template: ${(cause as Error).message}`, { cause });
  }
}

function extremes(tokenizer: HuggingFaceTokenizer): { largestId: number; longestToken: number } {
  let [largestId, longestToken] = [-1, 1];
  for (const [token, id] of tokenizer.get_vocab()) {
    largestId = Math.max(largestId, id);
    longestToken = Math.max(longestToken, token.length);
  }
  return { largestId, longestToken };
}

export class Tokenizer {
  readonly vocabSize: number;
  /** Characters of text that one token stands for, at most. */
  readonly longestToken: number;
  readonly bosId: number | undefined;
  readonly eosId: number | undefined;
  readonly padId: number | undefined;
  readonly #files: TokenizerFiles;
  readonly #tokenizer: HuggingFaceTokenizer;
  readonly #template: Template | undefined;

  constructor(files: TokenizerFiles) {
    this.#files = files;
    this.#tokenizer = construct(files);
    this.#template = compile(files);
    const { largestId, longestToken } = extremes(this.#tokenizer);
    this.vocabSize = largestId + 1;
    this.longestToken = longestToken;
    this.bosId = this.#specialId('bos_token');
    this.eosId = this.#specialId('eos_token');
    this.padId = this.#specialId('pad_token');
  }

  /** Reads a directory in HF layout. Errors name the file. */
  static async load(directory: string): Promise<Tokenizer> {
    return new Tokenizer(await readTokenizerFiles(directory));
  }

  #specialId(role: 'bos_token' | 'eos_token' | 'pad_token'): number | undefined {
    const token = this.#files.config[role];
    if (token === undefined) return undefined;
    const id = this.#tokenizer.token_to_id(token);
    if (id === undefined)
      throw new Error(`${this.#files.source}: ${role} "${token}" is not in the vocabulary of tokenizer.json`);
    return id;
  }

  get hasChatTemplate(): boolean {
    return this.#template !== undefined;
  }

  /** How the model's own template lets thinking be switched. */
  get thinkingControl(): ThinkingControl {
    return templateThinkingControl(this.#files.chatTemplate);
  }

  /** Ids of raw text with the special tokens that the tokenizer adds. A text that begins with BOS gets no second one. */
  encode(text: string): number[] {
    return this.#oneBos(this.#tokenizer.encode(text).ids);
  }

  /** Ids of text that already holds its special tokens (a rendered chat), or that continues another. */
  encodeExact(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  /** Ids of a rendered chat: the template writes the special tokens itself, so none are added; a doubled BOS is one. */
  encodeRendered(text: string): number[] {
    return this.#oneBos(this.encodeExact(text));
  }

  #oneBos(ids: number[]): number[] {
    const first = ids.findIndex((id) => id !== this.bosId);
    const repeated = (first === -1 ? ids.length : first) - 1;
    return repeated > 0 ? ids.slice(repeated) : ids;
  }

  /** Text of ids. Special tokens are left out unless `keepSpecial`. */
  decode(ids: readonly number[], { keepSpecial = false } = {}): string {
    if (ids.length === 0) return '';
    return this.#tokenizer.decode([...ids], {
      skip_special_tokens: !keepSpecial,
      // The library's default tidies spaces before punctuation: graders must see what the model wrote.
      clean_up_tokenization_spaces: this.#files.config.clean_up_tokenization_spaces ?? false,
    });
  }

  /** The chat as the model's template writes it. Throws where the model has none, or the template refuses the messages. */
  renderChat(messages: readonly ChatMessage[], options: ChatOptions): string {
    const { addGenerationPrompt, tools, variables = {} } = options;
    if (this.#template === undefined)
      throw new Error(`${this.#files.source}: the model has no chat template`);
    const { bos_token, eos_token, pad_token, sep_token, unk_token } = this.#files.config;
    const specials = Object.fromEntries(
      Object.entries({ bos_token, eos_token, pad_token, sep_token, unk_token }).filter(
        ([, token]) => token !== undefined,
      ),
    );
    try {
      return this.#template.render({
        ...specials,
        ...variables,
        ...(tools === undefined ? {} : { tools }),
        messages,
        add_generation_prompt: addGenerationPrompt,
      });
    } catch (cause) {
      throw new Error(
        `${this.#files.source}: the chat template refused the messages: ${(cause as Error).message}`,
        { cause },
      );
    }
  }

  /** Ids of the rendered chat. */
  encodeChat(messages: readonly ChatMessage[], options: ChatOptions): number[] {
    return this.encodeRendered(this.renderChat(messages, options));
  }
}

// A conversation as its user leads it: turns, and commands that begin with a slash. Knows no engine and no terminal.
import type { ChatMessage, ChatRequest } from '../../api/contract/chat.ts';

/** What every request of the conversation asks for beside its messages. */
export type ChatSettings = Omit<ChatRequest, 'messages' | 'model'>;

export type Turn =
  | { readonly type: 'ask'; readonly request: ChatRequest }
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'nothing' };

const commands = [
  '/think            answers begin with thinking',
  '/no_think         answers come without thinking',
  '/system TEXT      sets the system message; without TEXT it is removed',
  '/reset            forgets the conversation, keeps the system message',
  '/help             this list',
  'Ctrl-C stops an answer, Ctrl-D ends. A line that begins with // is sent with one slash.',
];

export class Conversation {
  readonly #settings: ChatSettings;
  readonly #hasThinking: boolean;
  #messages: ChatMessage[] = [];
  #system: string | undefined;
  #thinking: boolean | undefined;

  constructor(
    settings: ChatSettings,
    {
      system,
      thinking,
      hasThinking,
    }: { system?: string | undefined; thinking?: boolean | undefined; hasThinking: boolean },
  ) {
    this.#settings = settings;
    this.#system = system;
    this.#thinking = thinking;
    this.#hasThinking = hasThinking;
  }

  /** What a line of the user asks for. */
  take(line: string): Turn {
    const text = line.trim();
    if (text === '') return { type: 'nothing' };
    if (text.startsWith('/') && !text.startsWith('//')) return { type: 'say', text: this.#command(text) };
    return { type: 'ask', request: this.askOnce(line.replace(/^\s*\/\//, '/')) };
  }

  /** A message as it is: no command, no white space cut. */
  askOnce(content: string): ChatRequest {
    this.#messages.push({ role: 'user', content });
    return this.#request();
  }

  /** The answer joins the conversation, also one that was stopped in the middle. */
  answered(content: string): void {
    this.#messages.push({ role: 'assistant', content });
  }

  /** The last turn of the user was refused: it did not happen. */
  refused(): void {
    this.#messages.pop();
  }

  #request(): ChatRequest {
    const system: ChatMessage[] =
      this.#system === undefined ? [] : [{ role: 'system', content: this.#system }];
    return {
      ...this.#settings,
      model: 'local',
      messages: [...system, ...this.#messages],
      ...(this.#thinking === undefined ? {} : { chat_template_kwargs: { enable_thinking: this.#thinking } }),
    };
  }

  #command(text: string): string {
    const [, name = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(text) ?? [];
    switch (name) {
      case '/think':
      case '/no_think':
        if (!this.#hasThinking) return 'this model has no thinking mode';
        this.#thinking = name === '/think';
        return this.#thinking ? 'answers begin with thinking' : 'answers come without thinking';
      case '/system':
        this.#system = rest === '' ? undefined : rest;
        return rest === '' ? 'no system message' : 'the system message is set';
      case '/reset':
        this.#messages = [];
        return 'the conversation is forgotten';
      case '/help':
        return commands.join('\n');
      default:
        return `there is no command ${name}: /help lists them`;
    }
  }
}

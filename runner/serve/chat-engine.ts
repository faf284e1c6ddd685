// The engine as something to talk to: a request of messages in, pieces of text out as they are drawn. Shared by
// `millrace chat` and by runners that serve. Knows no HTTP and no terminal.
import type { ChatRequest, FinishReason, Usage } from '../../api/contract/chat.ts';
import { drawKey, drawStream } from '../engine/random/draws.ts';
import type { Runtime } from '../engine/ort/runtime.ts';
import { AnswerText } from './answer-text.ts';
import { Batch } from './batch.ts';
import type { Drawing } from './batch.ts';
import { Channel } from './channel.ts';
import { openChatModel } from './model.ts';
import type { ChatModel, Room } from './model.ts';
import { prepare } from './prepare.ts';
import type { Prepared } from './prepare.ts';
import { RequestRefused } from './refused.ts';

/** News of one answer. Its pieces of one kind, joined, are its thinking and its answer. */
export interface Piece {
  /** Which of the answers, from 0. */
  readonly choice: number;
  readonly thinking: string;
  readonly answer: string;
  /** Of the last piece of each answer. */
  readonly finish?: FinishReason;
}

export interface Answer {
  readonly promptTokens: number;
  /** Tokens drawn so far, of all answers; end tokens count. */
  readonly usage: () => Usage;
  /** Ends after the last piece of the last answer. */
  readonly pieces: AsyncIterable<Piece>;
}

/** Answers that may wait before more are refused. */
const longestLine = 64;

export class ChatEngine implements Disposable {
  readonly #model: ChatModel;
  readonly #batch: Batch;
  readonly #contextTokens: number;

  constructor(model: ChatModel, room: Room) {
    this.#model = model;
    this.#contextTokens = room.contextTokens;
    this.#batch = new Batch(model.sampler, model.endIds, room);
  }

  /** `contextTokens` beyond what the model has positions for is cut to them. Throws for a model that cannot be loaded. */
  static async open(runtime: Runtime, directory: string, asked: Room): Promise<ChatEngine> {
    const model = await openChatModel(runtime, directory, asked);
    const contextTokens = Math.min(asked.contextTokens, model.config.maxPositions);
    return new ChatEngine(model, { ...asked, contextTokens });
  }

  get contextTokens(): number {
    return this.#contextTokens;
  }

  get hasThinking(): boolean {
    return this.#model.tokenizer.thinkingControl !== 'none';
  }

  /** Begins at once, or as soon as there is room. Aborting `signal` ends it without an error. @throws RequestRefused. */
  answer(request: ChatRequest, signal: AbortSignal): Answer {
    const prepared = prepare(this.#model, request, this.#contextTokens);
    if (this.#batch.waiting >= longestLine)
      throw new RequestRefused(
        'serving_runner_busy',
        `${longestLine} answers wait already: try again in a moment`,
      );
    const channel = new Channel<Piece>();
    const counts = { drawn: 0, open: prepared.choices };
    signal.addEventListener('abort', () => channel.close(), { once: true });
    this.#batch.add(
      Array.from({ length: prepared.choices }, (_, choice) =>
        this.#drawing(prepared, choice, channel, signal, counts),
      ),
    );
    const promptTokens = prepared.prompt.length;
    return {
      promptTokens,
      usage: () => ({
        prompt_tokens: promptTokens,
        completion_tokens: counts.drawn,
        total_tokens: promptTokens + counts.drawn,
      }),
      pieces: channel,
    };
  }

  /** Resolves when nothing is at work. */
  idle(): Promise<void> {
    return this.#batch.idle();
  }

  [Symbol.dispose](): void {
    this.#model[Symbol.dispose]();
  }

  #drawing(
    { prompt, maxTokens, sampling, opened, stop, seed }: Prepared,
    choice: number,
    channel: Channel<Piece>,
    signal: AbortSignal,
    counts: { drawn: number; open: number },
  ): Drawing {
    const { tokenizer } = this.#model;
    const text = new AnswerText((ids) => tokenizer.decode(ids), { opened, stop });
    const send = (piece: Omit<Piece, 'choice'>): void => {
      if (piece.thinking !== '' || piece.answer !== '' || piece.finish !== undefined)
        channel.send({ choice, ...piece });
    };
    return {
      prompt,
      maxTokens,
      sampling,
      draw: drawStream(drawKey(seed, 'chat', 0), 0, choice),
      cancelled: () => signal.aborted,
      onToken: (token) => {
        counts.drawn += 1;
        send(text.push(token));
        return !text.stopped;
      },
      onEnd: ({ ended }) => {
        const stopped = text.stopped;
        const rest = text.end();
        send({ ...rest, finish: ended || stopped || text.stopped ? 'stop' : 'length' });
        counts.open -= 1;
        if (counts.open === 0) channel.close();
      },
      onError: (error) => channel.fail(error),
    };
  }
}

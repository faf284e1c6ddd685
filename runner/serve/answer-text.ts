// One answer on its way from tokens to what a client sees: characters whole, thinking apart, cut at the first stop string.
import { StopFilter } from './stop-filter.ts';
import { TextStream } from './text-stream.ts';
import { ThinkingSplit } from './thinking-split.ts';
import type { Split } from './thinking-split.ts';

export class AnswerText {
  readonly #text: TextStream;
  readonly #split: ThinkingSplit;
  readonly #stop: StopFilter;

  constructor(
    decode: (ids: readonly number[]) => string,
    { opened, stop }: { readonly opened: boolean; readonly stop: readonly string[] },
  ) {
    this.#text = new TextStream(decode);
    this.#split = new ThinkingSplit(opened);
    this.#stop = new StopFilter(stop);
  }

  /** True once a stop string was complete. */
  get stopped(): boolean {
    return this.#stop.stopped;
  }

  push(token: number): Split {
    const { thinking, answer } = this.#split.push(this.#text.push(token));
    return { thinking, answer: this.#stop.push(answer) };
  }

  /** What still waited. A stop string may have come complete with it. */
  end(): Split {
    const before = this.#split.push(this.#text.end());
    const rest = this.#split.end();
    const answer = this.#stop.push(before.answer + rest.answer);
    return { thinking: before.thinking + rest.thinking, answer: answer + this.#stop.end() };
  }
}

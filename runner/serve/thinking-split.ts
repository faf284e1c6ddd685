// Splits a stream of text into thinking and answer, as splitThinking (engine/tokenizer/thinking.ts) splits a whole one: the
// first closing tag ends the block, and only a tag at the very start opens one that the prompt did not.
import { heldBack } from './held-back.ts';

const OPEN = '<think>';
const CLOSE = '</think>';

export interface Split {
  readonly thinking: string;
  readonly answer: string;
}

type Place = 'start' | 'thinking' | 'gap' | 'answer';

export class ThinkingSplit {
  #place: Place = 'start';
  #held = '';
  readonly #opened: boolean;
  #begun = false;

  /** `opened`: the prompt already began the block. */
  constructor(opened: boolean) {
    this.#opened = opened;
  }

  push(text: string): Split {
    this.#held += text;
    if (this.#place === 'start') this.#start();
    const thinking = this.#place === 'thinking' ? this.#think() : '';
    return { thinking, answer: this.#answer() };
  }

  /** What was held back, when nothing follows. */
  end(): Split {
    const rest = this.#held;
    this.#held = '';
    if (this.#place === 'thinking') return { thinking: rest.trimEnd(), answer: '' };
    if (this.#place === 'start' && this.#opened) return { thinking: rest.trim(), answer: '' };
    return { thinking: '', answer: this.#place === 'gap' ? '' : rest };
  }

  /** Decides whether a block begins, as soon as that is certain. */
  #start(): void {
    const body = this.#held.trimStart();
    if (body.startsWith(OPEN)) {
      this.#held = body.slice(OPEN.length);
      this.#place = 'thinking';
    } else if (!OPEN.startsWith(body)) {
      this.#place = this.#opened ? 'thinking' : 'answer';
    }
  }

  /** The block without the white space around it. */
  #think(): string {
    if (!this.#begun) this.#held = this.#held.trimStart();
    const end = this.#held.indexOf(CLOSE);
    const inside = end >= 0 ? this.#held.slice(0, end).trimEnd() : this.#certain();
    if (inside !== '') this.#begun = true;
    if (end < 0) {
      this.#held = this.#held.slice(inside.length);
    } else {
      this.#held = this.#held.slice(end + CLOSE.length);
      this.#place = 'gap';
    }
    return inside;
  }

  /** Without what may be the closing tag, and without white space that may stand before it. */
  #certain(): string {
    return this.#held.slice(0, this.#held.length - heldBack(this.#held, [CLOSE])).trimEnd();
  }

  #answer(): string {
    if (this.#place === 'gap') {
      this.#held = this.#held.replace(/^\n+/, '');
      if (this.#held !== '') this.#place = 'answer';
    }
    if (this.#place !== 'answer') return '';
    const given = this.#held;
    this.#held = '';
    return given;
  }
}

// Where progress is shown: lines that stay, and on a terminal one line below them that is written over and over.

export interface Screen {
  /** Whether there is a live line; without one callers write plain lines now and then. */
  readonly live: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  line(text: string): void;
  /** Replaces the live line; nothing where there is none. */
  status(text: string): void;
  /** Takes the live line away. */
  clear(): void;
}

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A pseudo-terminal that nobody has given a size says 0. */
const columnsOf = (output: Output): number => output.columns || 80;

const eraseLine = '\r\x1b[K';

export function screenOn(output: Output): Screen {
  const live = output.isTTY === true && process.env['TERM'] !== 'dumb';
  let shown = '';
  const clear = (): void => {
    if (shown !== '') output.write(eraseLine);
    shown = '';
  };
  return {
    live,
    get width() {
      return columnsOf(output);
    },
    line(text) {
      const status = shown;
      clear();
      output.write(`${text}\n`);
      if (status !== '') output.write((shown = status));
    },
    status(text) {
      if (!live || text === shown) return;
      const fitting = text.slice(0, columnsOf(output) - 1);
      output.write(`${eraseLine}${fitting}`);
      shown = fitting;
    },
    clear,
  };
}

// How many event streams a key has open in this process: each holds a connection, and looks at the database every second.
import { ProblemError } from '../problem.ts';
import { retryAfter } from './headers.ts';

export interface Streams {
  /** Counts one more; the result takes it back, once however often it is called. @throws ProblemError rate_limited. */
  open(key: string): () => void;
}

export function createStreams(most: number): Streams {
  const open = new Map<string, number>();
  const change = (key: string, by: number): void => {
    const count = (open.get(key) ?? 0) + by;
    if (count === 0) open.delete(key);
    else open.set(key, count);
  };
  return {
    open(key) {
      if ((open.get(key) ?? 0) >= most)
        throw new ProblemError(
          'rate_limited',
          `your key has ${most} event streams open, which is the most: close one, or read pages`,
          { headers: retryAfter(5) },
        );
      change(key, 1);
      let counts = true;
      return () => {
        if (counts) change(key, -1);
        counts = false;
      };
    },
  };
}

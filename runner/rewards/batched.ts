// Calls that come one by one, answered several at a time; and a bound on how many are on their way.

/**
 * Calls made within one turn of the event loop are answered together, at most `most` at a time, in the order in which they
 * were made: the rollouts of a step always fall into the same batches. What `answer` throws, every call of the batch gets.
 */
export function batched<Item, Result>(
  most: number,
  answer: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  const flush = (): void => {
    const all = waiting;
    waiting = [];
    for (let begin = 0; begin < all.length; begin += most)
      void settle(all.slice(begin, begin + most), answer);
  };
  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ item, resolve, reject });
    });
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

async function settle<Item, Result>(
  batch: readonly Waiting<Item, Result>[],
  answer: (items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<void> {
  try {
    const results = await answer(batch.map(({ item }) => item));
    if (results.length !== batch.length)
      throw new Error(`internal: ${results.length} results for ${batch.length} items`);
    batch.forEach(({ resolve }, at) => resolve(results[at]!));
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}

/** Runs what it is given, `most` at a time, first come first served. */
export function bounded(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      // The place goes to who waits, or is free.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

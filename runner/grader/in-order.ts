// Work on many things at once, but not on too many, with results in the order of the things.

/** What `work` gives for each, in their order; at most `limit` are worked on at a time. Ends with the first error. */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  limit: number,
  work: (item: Item, index: number) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const open: Promise<Result>[] = [];
  let index = 0;
  for await (const item of items) {
    const result = work(item, index++);
    result.catch(() => undefined); // told when its turn comes
    open.push(result);
    if (open.length >= limit) yield await open.shift()!;
  }
  for (const result of open) yield await result;
}

// Several workers at once, and how long all of it took.

/** Calls `work(worker)` in each worker until it returns false. Seconds from the first call to the last. */
export async function inParallel(
  workers: number,
  work: (worker: number) => Promise<boolean>,
): Promise<number> {
  const began = performance.now();
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      while (await work(worker));
    }),
  );
  return (performance.now() - began) / 1000;
}

/** `count` calls, spread over the workers. */
export async function timesInParallel(
  count: number,
  workers: number,
  once: () => Promise<unknown>,
): Promise<number> {
  let left = count;
  return await inParallel(workers, async () => {
    if (left-- <= 0) return false;
    await once();
    return true;
  });
}

// Teachers opened in turn where there is no room for all.
import { expect, it } from 'vitest';
import { TeacherPool } from '../../../runner/cascade/distill/teacher-pool.ts';
import type { Scorer } from '../../../runner/engine/learner/scorer.ts';

/** What is open when, in place of real scorers: the pool only opens and ends them. */
function counted(atOnce: number) {
  const open = new Set<string>();
  const opened: string[] = [];
  let most = 0;
  const host = {
    atOnce,
    open: async (name: string) => {
      open.add(name);
      opened.push(name);
      most = Math.max(most, open.size);
      return { name, [Symbol.dispose]: () => void open.delete(name) } as unknown as Scorer;
    },
  };
  return { host, open, opened, most: () => most };
}

const named = (scorer: Scorer): Promise<string> =>
  Promise.resolve((scorer as unknown as { name: string }).name);

it.each([1, 2, 3, 9])('gives the one asked for, with no more than %i open', async (atOnce) => {
  const { host, open, opened, most } = counted(atOnce);
  const pool = new TeacherPool(host, ['a', 'b', 'a', 'c']);
  expect(pool.names).toEqual(['a', 'b', 'c']);
  await pool.openEach();
  expect(opened).toEqual(pool.names);
  for (let step = 0; step < 3; step += 1)
    for (const name of pool.names) expect(await pool.use(name, named)).toBe(name);
  expect(most()).toBe(Math.min(atOnce, 3));
  pool.close();
  expect(open.size).toBe(0);
});

it('opens each once where there is room for all, and few anew where there is not', async () => {
  const rounds = async (atOnce: number): Promise<number> => {
    const { host, opened } = counted(atOnce);
    const pool = new TeacherPool(host, ['a', 'b', 'c']);
    for (let step = 0; step < 4; step += 1) for (const name of pool.names) await pool.use(name, named);
    pool.close();
    return opened.length;
  };
  expect(await rounds(3)).toBe(3);
  // Three in the first step, then one or two of three a step, never all: the one used last makes room.
  expect(await rounds(2)).toBeLessThanOrEqual(3 + 3 * 2);
  expect(await rounds(1)).toBe(12);
});

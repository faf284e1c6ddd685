// The folder of sandboxes: what killed processes left of theirs is removed, those of living ones stay.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { createScratch } from '../../../runner/rewards/sandbox/bubblewrap/scratch.ts';

it('removes the folders of processes that were killed, and of no others', async () => {
  const own = await createScratch();
  const folder = dirname(own.pythonBoot);
  const of = (pid: number): string =>
    join(dirname(folder), folder.split('/').at(-1)!.replace(`-${process.pid}-`, `-${pid}-`));
  const [dead, alive] = [of(spawnSync('true').pid), of(process.ppid)];
  try {
    await Promise.all([dead, alive].map((path) => mkdir(path)));
    const other = await createScratch();
    expect([dead, alive, folder].map((path) => existsSync(path))).toEqual([false, true, true]);
    await other.remove();
  } finally {
    await rm(alive, { recursive: true, force: true });
    await own.remove();
  }
  expect(existsSync(folder)).toBe(false);
});

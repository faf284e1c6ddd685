// The runner's local folder: one for each process, removed with it. What killed runners left is removed at the start, as far as it can
// be: a trainer that has not yet noticed the death of its supervisor may still write there, which must not keep this one from starting.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

const ours = /^runner-(\d+)-/;

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false; // a former process of the same number, as in a restarted container
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** An empty folder of this process below `base`. */
export async function makeScratch(base: string): Promise<string> {
  await mkdir(base, { recursive: true });
  for (const name of await readdir(base)) {
    const pid = ours.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid)))
      await rm(join(base, name), { recursive: true, force: true, maxRetries: 2 }).catch(() => undefined);
  }
  return await mkdtemp(join(base, `runner-${process.pid}-`));
}

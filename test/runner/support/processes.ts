// What runs on this machine, from /proc: how tests find the processes that they kill.
import { readFileSync, readdirSync } from 'node:fs';

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Every process that this machine shows us. */
function processes(): Running[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, parent] = / \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return parent === undefined ? [] : [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        return []; // ended while we looked
      }
    });
}

/** The child of `parent` that runs the file `entry`. */
export const childOf = (parent: number, entry: string): number | undefined =>
  processes().find((running) => running.parent === parent && running.command.includes(entry))?.pid;

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie has been killed and waits for its parent to notice.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

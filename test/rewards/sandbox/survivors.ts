// Who is still there: the processes of sandboxes of this process, as /proc shows them.
import { readdir, readFile } from 'node:fs/promises';
import { sandboxUsers } from '../../../runner/rewards/sandbox/bubblewrap/identity.ts';
import { processTree } from '../../../runner/rewards/sandbox/bubblewrap/usage.ts';

interface Seen {
  readonly pid: number;
  readonly user: number;
  readonly command: string;
}

async function seen(pid: number): Promise<Seen | undefined> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'latin1');
    // Dead already; whoever adopted it has not looked yet.
    if (/^State:\s+Z/m.test(status)) return undefined;
    const command = await readFile(`/proc/${pid}/cmdline`, 'latin1');
    return { pid, user: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]), command };
  } catch {
    return undefined;
  }
}

export const isRunning = async (pid: number): Promise<boolean> => (await seen(pid)) !== undefined;

const isLauncher = ({ command }: Seen): boolean => command.includes('launcher-main.ts');

/** The processes of this one that start sandboxes. */
export async function launchers(): Promise<number[]> {
  const below = await Promise.all((await processTree(process.pid)).map(seen));
  return below.flatMap((one) => (one !== undefined && isLauncher(one) ? [one.pid] : []));
}

/** Of launchers that live, or lived: root's sandboxes are known by their users, those of an ordinary user by what they run. */
export async function sandboxProcesses(ofLaunchers: readonly number[]): Promise<Seen[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = (await Promise.all(pids.map(seen))).filter((one) => one !== undefined);
  const me = process.getuid?.() ?? 0;
  const ranges = ofLaunchers.map(sandboxUsers);
  if (me === 0) return all.filter(({ user }) => ranges.some(({ first, end }) => user >= first && user < end));
  return all.filter(({ user, command }) => user === me && /\/opt\/(boot|node)|sleep/.test(command));
}

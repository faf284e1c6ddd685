// Who is still there: the processes of sandboxes of this process, as /proc shows them.
import { readdir, readFile } from 'node:fs/promises';
import { sandboxUsers } from '../../../runner/rewards/sandbox/bubblewrap/identity.ts';

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

/** Root's sandboxes are known by their users, those of an ordinary user by being his and not Node's own. */
export async function sandboxProcesses(own: readonly number[] = [process.pid]): Promise<Seen[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = (await Promise.all(pids.map(seen))).filter((one) => one !== undefined);
  const me = process.getuid?.() ?? 0;
  const users = sandboxUsers();
  if (me === 0) return all.filter(({ user }) => user >= users.first && user < users.end);
  return all.filter(
    ({ pid, user, command }) => user === me && !own.includes(pid) && /\/opt\/(boot|node)|sleep/.test(command),
  );
}

// The account that the embedded server runs as. Postgres refuses to run as root, so a root
// process gives its server to an unprivileged account that exists on every Linux; any other
// process keeps its own account. Also: which folders that account can reach at all.
import { readFileSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';

export interface Account {
  name: string;
  uid: number;
  gid: number;
}

// `nobody` is last: other software runs untrusted programs under that name.
const candidates = ['postgres', 'daemon', 'nobody'];

/** The account to give the server to; undefined: the caller's own. Throws when root finds none. */
export function serverAccount(passwd = '/etc/passwd'): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const rows = readFileSync(passwd, 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of candidates) {
    const row = rows.find(([user]) => user === name);
    if (row !== undefined) return { name, uid: Number(row[2]), gid: Number(row[3]) };
  }
  throw new Error(
    `embedded Postgres cannot run as root, and ${passwd} has none of ${candidates.join(', ')}: ` +
      'start as another user or set DATABASE_URL',
  );
}

/** True if the account may enter every existing folder on the way to `path`. */
export function canReach(path: string, account: Account): boolean {
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    const stats = statSync(dir, { throwIfNoEntry: false });
    if (stats !== undefined && !mayEnter(stats, account)) return false;
    if (dir === dirname(dir)) return true;
  }
}

function mayEnter(stats: Stats, account: Account): boolean {
  if (stats.uid === account.uid) return (stats.mode & 0o100) !== 0;
  if (stats.gid === account.gid) return (stats.mode & 0o010) !== 0;
  return (stats.mode & 0o001) !== 0;
}

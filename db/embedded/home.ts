// Where the server's own files lie: in the data directory, or, when its account cannot get there (a data
// directory under a private home), in /var/lib/millrace, with a sign in the data directory that says where.
// The sign is what ties the two: a data directory that was deleted and made anew starts an empty database.
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { canReach, type Account } from './account.ts';
import { clusterPath, ensureHome } from './cluster.ts';
import { findPostmaster } from './postmaster.ts';

const shared = '/var/lib/millrace';
const ownerFile = 'belongs-to';

/** The folder of this data directory's server, made if it is not there. */
export async function serverHome(dataDir: string, account: Account | undefined): Promise<string> {
  const inside = resolve(dataDir, 'postgres');
  if (account === undefined || canReach(inside, account)) {
    await ensureHome(inside);
    return inside;
  }
  await removeOrphans();
  return await homeElsewhere(dataDir);
}

async function homeElsewhere(dataDir: string): Promise<string> {
  const sign = signPath(dataDir);
  const known = await readIfThere(sign);
  if (known !== undefined) {
    await ensureHome(known);
    return known;
  }
  const home = join(shared, `data-${randomBytes(6).toString('hex')}`, 'postgres');
  await ensureHome(home);
  // The owner last: a home that names one which has no sign is an orphan to whoever starts at this moment.
  await mkdir(dataDir, { recursive: true });
  await writeFile(sign, `${home}\n`);
  await writeFile(join(home, ownerFile), resolve(dataDir));
  return home;
}

// Data directories in the temporary folder come and go; those elsewhere may lie on a disk that is not
// mounted just now, and their databases are never touched.
async function removeOrphans(): Promise<void> {
  for (const name of await readdir(shared).catch(() => [])) {
    const home = join(shared, name, 'postgres');
    const owner = await readIfThere(join(home, ownerFile));
    if (owner === undefined || !owner.startsWith(tmpdir() + sep)) continue;
    if ((await readIfThere(signPath(owner))) === home) continue;
    if ((await findPostmaster(clusterPath(home))) !== undefined) continue;
    await rm(join(shared, name), { recursive: true, force: true });
  }
}

function signPath(dataDir: string): string {
  return join(dataDir, 'postgres-is-at');
}

async function readIfThere(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  return text?.trim();
}

// The cluster: the folder with the data, made once by initdb, and the password that opens it.
// It appears under its final name only when complete, so a kill during initdb costs nothing.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Account } from './account.ts';

const run = promisify(execFile);

export const superuser = 'millrace';

/** What outlives a restart: the password, and the port that clients know already. */
export interface Connection {
  password: string;
  port?: number | undefined;
}

/** Path of the cluster inside the server's home. */
export function clusterPath(home: string): string {
  return join(home, 'cluster');
}

/** Makes the cluster unless it exists; returns how to connect. `durable`: wait until it is on the disk. */
export async function ensureCluster(
  home: string,
  binDir: string,
  account: Account | undefined,
  durable: boolean,
): Promise<Connection> {
  const cluster = clusterPath(home);
  const known = await readConnection(home);
  if (await exists(cluster)) {
    if (known !== undefined) return known;
    throw new Error(
      `${cluster} holds a database but ${connectionPath(home)} with its password is missing: restore that file, or move ${home} away to start empty`,
    );
  }
  const connection = known ?? { password: randomBytes(24).toString('hex') };
  await writeConnection(home, connection);
  await initdb({ cluster, binDir, account, password: connection.password, durable });
  return connection;
}

/** Makes the server's home and lets the account pass through it. */
export async function ensureHome(home: string): Promise<void> {
  const made = await mkdir(home, { recursive: true });
  if (made === undefined) return;
  // Whatever the umask, the server's account must get through what we have just made.
  for (let dir = home; dir.length >= made.length; dir = dirname(dir)) await chmod(dir, 0o755);
}

/** Remembers the port, so that a restart keeps the address. */
export async function writeConnection(home: string, connection: Connection): Promise<void> {
  const partial = `${connectionPath(home)}.partial`;
  await writeFile(partial, JSON.stringify(connection), { mode: 0o600 });
  await rename(partial, connectionPath(home));
}

async function readConnection(home: string): Promise<Connection | undefined> {
  const text = await readFile(connectionPath(home), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Connection);
}

function connectionPath(home: string): string {
  return join(home, 'connection.json');
}

interface NewCluster {
  cluster: string;
  binDir: string;
  account: Account | undefined;
  password: string;
  durable: boolean;
}

async function initdb({ cluster, binDir, account, password, durable }: NewCluster): Promise<void> {
  const partial = `${cluster}.partial`;
  const passwordFile = `${cluster}.password`;
  await rm(partial, { recursive: true, force: true });
  await rm(passwordFile, { force: true });
  await mkdir(partial, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (account !== undefined) {
    await chown(partial, account.uid, account.gid);
    await chown(passwordFile, account.uid, account.gid);
  }
  const access = ['-U', superuser, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
  const args = ['-D', partial, ...access, '-E', 'UTF8', '--locale=C', ...(durable ? [] : ['--no-sync'])];
  const options = { ...as(account), cwd: '/', env: serverEnvironment() };
  try {
    await run(join(binDir, 'initdb'), args, options);
  } catch (error) {
    throw new Error(`initdb could not make ${cluster}: ${errorOutput(error)}`, { cause: error });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(partial, cluster);
}

/** Spawn options that switch to the account. */
export function as(account: Account | undefined): { uid?: number; gid?: number } {
  return account === undefined ? {} : { uid: account.uid, gid: account.gid };
}

/** Nothing of ours: PG* variables would redirect the server, secrets do not belong there. */
export function serverEnvironment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

function errorOutput(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr === undefined || stderr === '' ? message : stderr.trim();
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

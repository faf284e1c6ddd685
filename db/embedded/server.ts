// One server process over one cluster: start it, wait until it answers, stop it. A server that
// a former run left over the same cluster is adopted, not fought.
import { spawn } from 'node:child_process';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import type { Account } from './account.ts';
import {
  as,
  clusterPath,
  ensureCluster,
  ensureHome,
  serverEnvironment,
  superuser,
  writeConnection,
  type Connection,
} from './cluster.ts';
import { findPostmaster, gone, isAlive, stopPostmaster, type Postmaster } from './postmaster.ts';

export interface ServerOptions {
  /** Folder of the cluster, the log and the password. */
  home: string;
  /** Folder with `postgres` and `initdb`. */
  binDir: string;
  account: Account | undefined;
  /** Server settings, e.g. `{ fsync: 'off' }` for throw-away clusters. */
  settings?: Record<string, string>;
}

export interface RunningServer {
  /** Address of the database `millrace`, with its password. */
  url: string;
  pid: number;
  /** True if a former run had started this server. */
  adopted: boolean;
  /** Waits until the server process has ended, for whatever reason. */
  exited: () => Promise<void>;
  /** Ends the server and waits until no process is left. */
  stop: () => Promise<void>;
}

const startPatienceMs = 30_000;
const launchTries = 5;
const logLimit = 8 * 1024 * 1024;

const fixedSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  log_timezone: 'UTC',
  timezone: 'UTC',
};

/** Starts (or adopts) the server and makes the database `millrace`. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  await ensureHome(options.home);
  const durable = options.settings?.['fsync'] !== 'off';
  const connection = await ensureCluster(options.home, options.binDir, options.account, durable);
  const cluster = clusterPath(options.home);
  const left = await adopt(options.home, connection);
  const server = left ?? (await launch(options, connection));
  const admin = address(server.port, connection.password, 'postgres');
  await ensureDatabase(admin);
  if (connection.port !== server.port)
    await writeConnection(options.home, { ...connection, port: server.port });
  return {
    url: address(server.port, connection.password, 'millrace'),
    pid: server.pid,
    adopted: left !== undefined,
    exited: () => ended(cluster, server.pid),
    stop: () => stopPostmaster(cluster, server.pid),
  };
}

function address(port: number, password: string, database: string): string {
  return `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`;
}

// A server may be found while it is on its way out: then it is gone a moment later, and none is left.
async function adopt(home: string, connection: Connection): Promise<Postmaster | undefined> {
  const cluster = clusterPath(home);
  const found = await findPostmaster(cluster);
  if (found === undefined) return undefined;
  try {
    await untilItAnswers(address(found.port, connection.password, 'postgres'), cluster, found.pid, home);
    return found;
  } catch (error) {
    if (await gone(cluster, found.pid, 0)) return undefined;
    throw error;
  }
}

// The former port first: a client that outlived the server finds it again. Another try is worth while when
// somebody took the port in between, or sessions of a killed server are still on their way out.
async function launch(options: ServerOptions, connection: Connection): Promise<Postmaster> {
  for (let left = launchTries; ; left--) {
    const former = left === launchTries ? connection.port : undefined;
    const port = former !== undefined && (await isFree(former)) ? former : await freePort();
    const pid = await spawnServer(options, port);
    const admin = address(port, connection.password, 'postgres');
    try {
      await untilItAnswers(admin, clusterPath(options.home), pid, options.home);
      return { pid, port };
    } catch (error) {
      await stopPostmaster(clusterPath(options.home), pid);
      if (left === 1 || !passing.test((error as Error).message)) throw error;
      await delay(200);
    }
  }
}

const passing = /Address already in use|pre-existing shared memory block|could not bind/;

async function spawnServer(options: ServerOptions, port: number): Promise<number> {
  const log = await openLog(options.home);
  const settings = { ...fixedSettings, ...options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // Its own session: a Ctrl-C at the terminal reaches us, and we stop it in order.
  const child = spawn(
    join(options.binDir, 'postgres'),
    ['-D', clusterPath(options.home), '-p', String(port), ...flags],
    {
      ...as(options.account),
      cwd: '/',
      env: serverEnvironment(),
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    },
  );
  await new Promise<void>((done, fail) => child.once('spawn', done).once('error', fail));
  child.unref();
  await log.close();
  return child.pid as number;
}

async function openLog(home: string) {
  const path = join(home, 'postgres.log');
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size > logLimit) await rename(path, `${path}.old`);
  return await open(path, 'a', 0o600);
}

// A server that recovers from kill -9 refuses connections for a while: ask until it answers.
async function untilItAnswers(url: string, cluster: string, pid: number, home: string): Promise<void> {
  const deadline = performance.now() + startPatienceMs;
  for (;;) {
    const failure = await ask(url, 'select 1');
    if (failure === undefined) return;
    if (!isAlive(pid)) throw new Error(`Postgres ended at once. ${await logTail(home)}`, { cause: failure });
    if (isRefusal(failure))
      throw new Error(`the Postgres server of ${cluster} refuses our password: ${failure.message}`, {
        cause: failure,
      });
    if (performance.now() > deadline) {
      throw new Error(
        `Postgres does not answer after ${startPatienceMs} ms: ${failure.message}. ${await logTail(home)}`,
        { cause: failure },
      );
    }
    await delay(25);
  }
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const failure = await ask(adminUrl, 'create database millrace');
  const duplicate = '42P04';
  if (failure !== undefined && (failure as { code?: string }).code !== duplicate) throw failure;
}

async function ask(url: string, statement: string): Promise<Error | undefined> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, fetch_types: false, onnotice: () => undefined });
  try {
    await sql.unsafe(statement);
    return undefined;
  } catch (error) {
    return error as Error;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function isRefusal(failure: Error): boolean {
  const invalidPassword = '28P01';
  return (failure as { code?: string }).code === invalidPassword;
}

async function logTail(home: string): Promise<string> {
  const path = join(home, 'postgres.log');
  const text = await readFile(path, 'utf8').catch(() => '');
  return `The end of ${path}: ${text.slice(-1500).trim()}`;
}

async function ended(cluster: string, pid: number): Promise<void> {
  while (!(await gone(cluster, pid, 0))) await delay(250);
}

async function isFree(port: number): Promise<boolean> {
  return await listenOn(port).then(
    () => true,
    () => false,
  );
}

async function freePort(): Promise<number> {
  return await listenOn(0);
}

async function listenOn(port: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done));
  const bound = (server.address() as AddressInfo).port;
  await new Promise((done) => server.close(done));
  return bound;
}

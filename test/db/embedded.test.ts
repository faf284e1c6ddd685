// The embedded server as a process: start, stop, kill -9 of the server and of its keeper, pid files that lie,
// a private home. No test leaves a process.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import postgres from 'postgres';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { canReach, serverAccount } from '../../db/embedded/account.ts';
import { findPostmaster, isAlive, stopPostmaster } from '../../db/embedded/postmaster.ts';
import { startEmbedded } from '../../db/embedded.ts';

const asRoot = process.getuid?.() === 0;
const dataDir = makeDataDir();
const cluster = join(dataDir, 'postgres/cluster');

function makeDataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-embedded-'));
  chmodSync(dir, 0o755);
  return dir;
}

// A cluster that no test reopens after a crash need not wait for the disk.
const throwAway = { fsync: 'off' };

const leftRunning = async () => (existsSync(cluster) ? await findPostmaster(cluster) : undefined);

afterEach(async () => {
  const left = await leftRunning();
  if (left !== undefined) await stopPostmaster(cluster, left.pid);
  expect(left, 'a server was left running').toBeUndefined();
});

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function query(url: string, statement: string): Promise<unknown[]> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined });
  return await sql.unsafe(statement).finally(() => sql.end({ timeout: 1 }));
}

const portOf = (url: string) => new URL(url).port;

test('starts, answers, stops without a trace; a restart keeps data, password and port', async () => {
  const first = await startEmbedded(dataDir);
  await query(first.url, 'create table kept as select 7 as n');
  await first.stop();
  expect(isAlive(first.pid)).toBe(false);
  const second = await startEmbedded(dataDir);
  expect(second.url).toBe(first.url);
  expect(second.adopted).toBe(false);
  expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
  await second.stop();
  await second.stop();
  expect(isAlive(second.pid)).toBe(false);
});

test('runs as an unprivileged account and asks for the password', async () => {
  const server = await startEmbedded(dataDir);
  if (asRoot) expect(statSync(`/proc/${server.pid}`).uid).toBe(serverAccount()?.uid);
  const wrong = new URL(server.url);
  wrong.password = 'guess';
  await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  expect(statSync(join(dataDir, 'postgres/connection.json')).mode & 0o077).toBe(0);
  await server.stop();
});

test('comes back after kill -9 in the middle of work', async () => {
  const first = await startEmbedded(dataDir);
  await query(first.url, 'create table many as select generate_series(1, 1000) as n');
  const busy = query(first.url, 'select pg_sleep(60)').catch((error: unknown) => error);
  await expect
    .poll(() => query(first.url, "select 1 from pg_stat_activity where query = 'select pg_sleep(60)'"), {
      timeout: 10_000,
    })
    .toHaveLength(1);
  process.kill(first.pid, 'SIGKILL');
  const second = await startEmbedded(dataDir);
  expect(await busy).toBeInstanceOf(Error);
  expect(second.pid).not.toBe(first.pid);
  expect(await query(second.url, 'select count(*)::int as n from many')).toEqual([{ n: 1000 }]);
  await second.stop();
});

test('adopts the server that a former run left', async () => {
  const first = await startEmbedded(dataDir);
  const second = await startEmbedded(dataDir);
  expect(second).toMatchObject({ adopted: true, pid: first.pid, url: first.url });
  await second.stop();
  expect(isAlive(first.pid)).toBe(false);
});

test('takes another port when its own is in use', async () => {
  const first = await startEmbedded(dataDir);
  await first.stop();
  const thief = createServer().listen(Number(portOf(first.url)), '127.0.0.1');
  await once(thief, 'listening');
  const second = await startEmbedded(dataDir);
  expect(portOf(second.url)).not.toBe(String((thief.address() as AddressInfo).port));
  expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  await second.stop();
  thief.close();
});

test('is not fooled by a pid file whose number belongs to another process now', async () => {
  const first = await startEmbedded(dataDir);
  const pidFile = join(cluster, 'postmaster.pid');
  const text = readFileSync(pidFile, 'utf8');
  await first.stop();
  for (const pid of [process.pid, process.ppid, 1]) {
    writeFileSync(pidFile, text.replace(/^\d+/, String(pid)));
    const again = await startEmbedded(dataDir);
    expect(again.adopted).toBe(false);
    await again.stop();
  }
});

test('starts where initdb was cut short', async () => {
  const other = makeDataDir();
  mkdirSync(join(other, 'postgres/cluster.partial/base'), { recursive: true });
  writeFileSync(join(other, 'postgres/cluster.password'), 'old');
  const server = await startEmbedded(other, throwAway);
  await server.stop();
  rmSync(other, { recursive: true });
});

describe('what cannot work says so', () => {
  test.each([
    ['a lost password', 'connection.json', /connection\.json with its password is missing/],
    ['a damaged cluster', 'cluster/global/pg_control', /ended at once.*postgres\.log.*pg_control/s],
  ])('%s', async (_what, file, message) => {
    await (await startEmbedded(dataDir)).stop();
    const path = join(dataDir, 'postgres', file);
    renameSync(path, `${path}.away`);
    await expect(startEmbedded(dataDir)).rejects.toThrow(message);
    renameSync(`${path}.away`, path);
  });
});

describe.skipIf(!asRoot)(
  'a data directory under a private home (only root has another account to serve it)',
  () => {
    const home = join(makeDataDir(), 'private');
    const clone = join(home, 'clone');
    const place = () => readFileSync(join(clone, 'postgres-is-at'), 'utf8').trim();

    afterAll(() => rmSync(dirname(home), { recursive: true, force: true }));

    test('is served from /var/lib/millrace', async () => {
      mkdirSync(home, { mode: 0o700 });
      expect(canReach(join(clone, 'postgres'), { name: 'x', uid: 65_534, gid: 65_534 })).toBe(false);
      const server = await startEmbedded(clone, throwAway);
      await query(server.url, 'create table kept as select 7 as n');
      await server.stop();
      expect(place()).toMatch(/^\/var\/lib\/millrace\/data-[0-9a-f]{12}\/postgres$/);
      const again = await startEmbedded(clone, throwAway);
      expect(await query(again.url, 'select n from kept')).toEqual([{ n: 7 }]);
      await again.stop();
    });

    test('deleted and made anew it starts empty, and the old database in the temporary folder goes', async () => {
      const old = place();
      rmSync(clone, { recursive: true });
      const server = await startEmbedded(clone, throwAway);
      await expect(query(server.url, 'select n from kept')).rejects.toMatchObject({ code: '42P01' });
      await server.stop();
      expect(existsSync(old)).toBe(false);
      rmSync(dirname(place()), { recursive: true });
    });
  },
);

describe('the process that keeps it', () => {
  const entry = resolve(import.meta.dirname, '../../db/embedded-main.ts');

  async function keeper(): Promise<{ child: ChildProcess; url: string; exit: Promise<unknown[]> }> {
    const child = spawn(process.execPath, [entry, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exit = once(child, 'exit');
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    return { child, url: (JSON.parse(line.toString()) as { url: string }).url, exit };
  }

  const serverPid = async () => (await leftRunning())?.pid ?? 0;

  test.each(['SIGTERM', 'SIGINT'] as const)('%s stops the server, exit code 0', async (signal) => {
    const { child, exit } = await keeper();
    const pid = await serverPid();
    expect(isAlive(pid)).toBe(true);
    child.kill(signal);
    expect(await exit).toEqual([0, null]);
    expect(isAlive(pid)).toBe(false);
  });

  test('goes with its parent: the end of its standard input stops the server', async () => {
    const { child, exit } = await keeper();
    const pid = await serverPid();
    child.stdin?.end();
    expect(await exit).toEqual([0, null]);
    expect(isAlive(pid)).toBe(false);
  });

  test('ends with 1 when the server dies, and the next one brings the data back', async () => {
    const { url, exit } = await keeper();
    await query(url, 'create table empty (n int)');
    process.kill(await serverPid(), 'SIGKILL');
    expect(await exit).toEqual([1, null]);
    const next = await keeper();
    expect(await query(next.url, 'select n from empty')).toEqual([]);
    next.child.kill('SIGTERM');
    await next.exit;
  });

  test('killed by kill -9 it leaves the server, and the next one adopts it', async () => {
    const { child, url, exit } = await keeper();
    const pid = await serverPid();
    child.kill('SIGKILL');
    await exit;
    const next = await keeper();
    expect(next.url).toBe(url);
    expect(await serverPid()).toBe(pid);
    next.child.kill('SIGTERM');
    await next.exit;
    expect(isAlive(pid)).toBe(false);
  });
});

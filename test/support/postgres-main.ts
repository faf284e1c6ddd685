// Process entry: the Postgres of one test run, and the migrated template that every test file copies.
// usage: node postgres-main.ts FOLDER PID. Writes FOLDER/server.json when ready, FOLDER/error if it cannot.
// It belongs to the run, not to a test file: it ends, and leaves nothing, as soon as process PID is
// gone, however that went.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { serverAccount } from '../../db/embedded/account.ts';
import { installBinaries } from '../../db/embedded/binaries.ts';
import { ensureHome } from '../../db/embedded/cluster.ts';
import { isAlive } from '../../db/embedded/postmaster.ts';
import { startServer } from '../../db/embedded/server.ts';
import { migrate } from '../../db/migrate.ts';

interface TestServer {
  url: string;
  stop: () => Promise<void>;
}

// A throw-away cluster need not survive a power cut.
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

async function start(folder: string): Promise<TestServer> {
  const external = process.env['DATABASE_URL'];
  if (external !== undefined) return { url: external, stop: () => Promise.resolve() };
  const home = join(folder, 'postgres');
  await ensureHome(home);
  const binDir = process.env['TEST_POSTGRES'] === 'system' ? systemBinaries() : await installBinaries(home);
  return await startServer({ home, binDir, account: serverAccount(), settings });
}

function systemBinaries(): string {
  const root = '/usr/lib/postgresql';
  const newest = readdirSync(root).sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error(`TEST_POSTGRES=system, but ${root} is empty: install postgresql`);
  return join(root, newest, 'bin');
}

async function withAdmin(url: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined });
  await work(sql).finally(() => sql.end({ timeout: 5 }));
}

const [folder, owner] = [process.argv[2], Number(process.argv[3])];
if (folder === undefined || !Number.isInteger(owner)) throw new Error('usage: postgres-main.ts FOLDER PID');
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

mkdirSync(folder, { recursive: true });
const template = `millrace_template_${owner}`;
try {
  const server = await start(folder);
  await withAdmin(server.url, (sql) => sql.unsafe(`drop database if exists ${template}`));
  await withAdmin(server.url, (sql) => sql.unsafe(`create database ${template}`));
  const templateUrl = new URL(server.url);
  templateUrl.pathname = `/${template}`;
  await migrate(templateUrl.href);
  writeFileSync(join(folder, 'server.partial'), JSON.stringify({ url: server.url, template }));
  renameSync(join(folder, 'server.partial'), join(folder, 'server.json'));
  while (isAlive(owner)) await delay(250);
  await withAdmin(server.url, (sql) => sql.unsafe(`drop database if exists ${template} with (force)`));
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
} catch (error) {
  writeFileSync(
    join(folder, 'error'),
    error instanceof Error ? (error.stack ?? error.message) : String(error),
  );
  // Left for the test files to read; the next run with this number starts afresh.
  process.exitCode = 1;
}

// A real Postgres for tests: one server for the whole run, one database for each test file, copied
// from a migrated template. The environment chooses the server: DATABASE_URL names one,
// TEST_POSTGRES=system starts the machine's own programs, and by default the embedded one starts.
// The database of a file that failed is kept (on a server named by DATABASE_URL, where it outlives the run).
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, onTestFailed, beforeEach } from 'vitest';
import { connect, type Connected } from '../../db/connect.ts';
import { isAlive } from '../../db/embedded/postmaster.ts';

interface TestServer {
  url: string;
  template: string;
}

/** What a test file sees; filled in before its first test. */
export interface TestDatabase extends Connected {
  url: string;
}

const patienceMs = 90_000;

/** Call at the top of a test file (or a describe): its own database, empty but for the schema. */
export function useDatabase(): TestDatabase {
  const held = {} as TestDatabase;
  let drop: () => Promise<void>;
  let failed = false;
  beforeAll(async () => {
    const created = await createDatabase();
    drop = created.drop;
    Object.assign(held, connect(created.url, 30), { url: created.url });
  });
  beforeEach(() => onTestFailed(() => void (failed = true)));
  afterAll(async () => {
    await held.close();
    if (failed) console.error(`kept for a look: ${held.url}`);
    else await drop();
  });
  return held;
}

/** A fresh database from the migrated template, for tests that start processes of ours on it. */
export async function createDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = await testServer();
  const name = `millrace_test_${process.pid}_${randomBytes(4).toString('hex')}`;
  await withAdmin(server.url, async (sql) => {
    // Two copies of one template at a time are refused: take turns.
    await sql`select pg_advisory_lock(7104221002)`;
    await sql.unsafe(`create database ${name} template ${server.template}`);
  });
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => withAdmin(server.url, (sql) => sql.unsafe(`drop database ${name} with (force)`)),
  };
}

async function withAdmin(url: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined });
  await work(sql).finally(() => sql.end({ timeout: 5 }));
}

// All workers of a run have vitest's main process as their parent; the first to come starts the server.
async function testServer(): Promise<TestServer> {
  const run = process.ppid;
  const folder = join(tmpdir(), `millrace-test-postgres-${run}`);
  if (existsSync(join(folder, 'error'))) rmSync(folder, { recursive: true, force: true });
  const first = takePlace(folder);
  if (first) startGuard(folder, run);
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const ready = readIfThere(join(folder, 'server.json'));
    if (ready !== undefined) return JSON.parse(ready) as TestServer;
    const error = readIfThere(join(folder, 'error'));
    if (error !== undefined) throw new Error(`the test Postgres did not start: ${error}`);
    if (performance.now() > deadline || !isAlive(run)) {
      throw new Error(`the test Postgres did not start within ${patienceMs} ms: see ${folder}`);
    }
    await delay(50);
  }
}

function takePlace(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o755 });
    return true;
  } catch {
    return false;
  }
}

// Its own session: a Ctrl-C that ends the run must not cut the clean-up short.
function startGuard(folder: string, run: number): void {
  const entry = resolve(import.meta.dirname, 'postgres-main.ts');
  spawn(process.execPath, [entry, folder, String(run)], { detached: true, stdio: 'ignore' }).unref();
}

function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

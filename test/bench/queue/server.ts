// What the bench of the queue runs on: one Postgres (that of DATABASE_URL, or the embedded one with its own settings: durable), a
// fresh database in it, and the API as a process of its own.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import postgres from 'postgres';
import { connect, type Connected } from '../../../db/connect.ts';
import { startEmbedded } from '../../../db/embedded.ts';
import { migrate } from '../../../db/migrate.ts';

export interface BenchServer {
  /** Of the fresh database. */
  readonly url: string;
  readonly connected: Connected;
  readonly folder: string;
  close(): Promise<void>;
}

export async function startBenchServer(): Promise<BenchServer> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-queue-'));
  const given = process.env['DATABASE_URL'];
  const server = given === undefined ? await startEmbedded(join(folder, 'data')) : undefined;
  const admin = given ?? server!.url;
  const name = `millrace_bench_${process.pid}`;
  await asAdmin(admin, `create database ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  await migrate(url.href);
  const connected = connect(url.href, 20);
  return {
    url: url.href,
    connected,
    folder,
    async close() {
      await connected.close();
      await asAdmin(admin, `drop database ${name} with (force)`);
      await server?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function asAdmin(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined });
  await sql.unsafe(statement).finally(() => sql.end({ timeout: 5 }));
}

export interface BenchApi {
  readonly url: string;
  /** MB (10^6 bytes) that its process holds now. */
  memory(): Promise<number>;
  close(): Promise<void>;
}

const entry = resolve(import.meta.dirname, '../../../api/node.ts');

export async function startBenchApi({ url, folder }: BenchServer): Promise<BenchApi> {
  const child = spawn(process.execPath, [entry], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
      DATABASE_URL: url,
      // No limit of requests but the machine's.
      MILLRACE_REQUESTS_PER_MINUTE: '1000000000',
      MILLRACE_REQUEST_BURST: '1000000000',
      MILLRACE_STREAMS_PER_KEY: '1000000',
      STORE_URL: pathToFileURL(join(folder, 'store')).href,
      PORT: '0',
    },
  });
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  return {
    url: await addressOf(child),
    memory: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024) / 1e6;
    },
    async close() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const told = /"url":"([^"]+)"/.exec(line)?.[1];
      if (told !== undefined) done(told);
    });
    child.once('exit', (code) => fail(new Error(`the API ended with ${code}`)));
  });
}

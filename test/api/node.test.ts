// The API as a process, over real HTTP: it starts on an empty database, says clearly why it cannot, takes jobs back
// from silent runners, streams through a kill -9, and leaves when it is told to.
import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../api/client.ts';
import type { JobEvent } from '../../api/contract/event.ts';
import { connect } from '../../db/connect.ts';
import { createDatabase } from '../support/postgres.ts';
import { claimOne, registerDatasets, spec } from './support.ts';

const entry = (name: string): string => resolve(import.meta.dirname, '../../api', name);
let database: { url: string; drop: () => Promise<unknown> };
let folder: string;
let key: string;
const children = new Map<ChildProcess, Promise<unknown>>();

beforeAll(async () => {
  database = await createDatabase();
  folder = await mkdtemp(join(tmpdir(), 'millrace-test-node-'));
  const { stdout } = await promisify(execFile)(process.execPath, [entry('keys.ts'), '--scopes', 'admin'], {
    env: { ...process.env, DATABASE_URL: database.url },
  });
  key = (JSON.parse(stdout) as { key: string }).key;
});
afterEach(async () => {
  for (const [child, exit] of children) {
    child.kill('SIGKILL');
    await exit;
  }
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

interface Service {
  readonly url: string;
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
}

async function start(env: Record<string, string> = {}): Promise<Service> {
  const child = spawn(process.execPath, [entry('node.ts')], {
    env: { ...process.env, PORT: '0', DATABASE_URL: database.url, STORE_URL: `file://${folder}`, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = new Promise<number | null>((done) =>
    child.once('exit', (code) => (children.delete(child), done(code))),
  );
  children.set(child, exit);
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as { msg: string; url: string };
    if (said.msg === 'listening') {
      child.stdout.resume();
      return { url: said.url, child, exit };
    }
  }
  throw new Error(`the service ended before it listened: ${await exit}`);
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return String(port);
}

async function failure(env: Record<string, string>): Promise<{ code: unknown; stderr: string }> {
  const error = await promisify(execFile)(process.execPath, [entry('node.ts')], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
  }).then(
    () => ({ code: 0, stderr: '' }),
    (cause: { code: unknown; stderr: string }) => cause,
  );
  return { code: error.code, stderr: error.stderr };
}

describe('what keeps it from starting', () => {
  test('is named', async () => {
    const store = { STORE_URL: `file://${folder}` };
    expect(await failure({})).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^millrace api: DATABASE_URL: .*; STORE_URL: /),
    });
    const unreachable = await failure({ ...store, DATABASE_URL: 'postgres://a:b@127.0.0.1:1/x' });
    expect(unreachable).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^millrace api: the database .*ECONNREFUSED/),
    });
    expect(unreachable.stderr).not.toContain('a:b');
    expect((await failure({ DATABASE_URL: database.url, STORE_URL: 'ftp://x' })).stderr).toMatch(
      /^millrace api: store .*not a store URL/,
    );
    const pace = { MILLRACE_LEASE_MS: '100', MILLRACE_HEARTBEAT_MS: '100' };
    expect((await failure({ ...store, DATABASE_URL: database.url, ...pace })).stderr).toMatch(
      /MILLRACE_LEASE_MS/,
    );
    expect((await failure({ ...store, DATABASE_URL: database.url, PORT: 'http' })).stderr).toMatch(/PORT/);
  });
});

describe('running', () => {
  test(
    'a silent runner loses its job when its lease is over; a stop ends streams and the process',
    { timeout: 60_000 },
    async () => {
      const service = await start({
        MILLRACE_LEASE_MS: '400',
        MILLRACE_HEARTBEAT_MS: '100',
        MILLRACE_TICK_MS: '50',
      });
      const client = createClient({ url: service.url, key });
      await registerDatasets(client);
      const job = await client.createJob(spec());
      await claimOne(client);
      for await (const event of client.events(job.id)) if (event.body.type === 'attempt_failed') break;
      expect(await client.job(job.id)).toMatchObject({
        state: 'queued',
        reason: 'lease_expired',
        attempt: 1,
      });

      const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
      const stream = await fetch(`${service.url}/v1/jobs/${job.id}/events`, { headers });
      const started = performance.now();
      service.child.kill('SIGTERM');
      expect(await stream.text()).toContain('"lease_expired"');
      expect(await service.exit).toBe(0);
      expect(performance.now() - started).toBeLessThan(4_000);
    },
  );

  test(
    'told to stop: what is under way is answered, streams say where to go on, nothing new is taken',
    { timeout: 60_000 },
    async () => {
      const service = await start();
      const client = createClient({ url: service.url, key });
      await registerDatasets(client);
      const job = await client.createJob(spec({ priority: 8 }));
      const headers = { authorization: `Bearer ${key}` };
      const stream = await fetch(`${service.url}/v1/jobs/${job.id}/events`, {
        headers: { ...headers, accept: 'text/event-stream' },
      });
      // An upload whose second half comes after the signal.
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      const upload = fetch(`${service.url}/v1/datasets?name=half&kind=math`, {
        method: 'POST',
        headers,
        body: readable,
        duplex: 'half',
      } as RequestInit);
      await writer.write(new TextEncoder().encode('{"prompt":"1","answer":"1"}\n'));
      const admin = connect(database.url, 1);
      // Its key has been looked up: it is in the middle.
      await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(200);

      service.child.kill('SIGTERM');
      const told = await stream.text();
      expect(told).toMatch(/retry: 1000\n: to be continued: ask again with Last-Event-ID\n\n$/);
      await expect.poll(() => fetch(`${service.url}/healthz`).then(String, () => 'refused')).toBe('refused');
      await writer.write(new TextEncoder().encode('{"prompt":"2","answer":"2"}\n'));
      await writer.close();
      expect((await upload).status).toBe(201);
      expect(await service.exit).toBe(0);
      expect((await admin.sql`select rows from datasets where name = 'half'`)[0]?.['rows']).toBe(2);
      await admin.close();
    },
  );

  test(
    'a client follows a job through a kill -9 of the service: no gap, nothing twice',
    { timeout: 60_000 },
    async () => {
      const PORT = await freePort();
      const first = await start({ PORT });
      const client = createClient({ url: first.url, key, tries: 100, pauseMs: 20 });
      await registerDatasets(client);
      const job = await client.createJob(spec({ priority: 9 }));
      const { fence } = await claimOne(client, 'runner-2');
      const seen: JobEvent[] = [];
      let restarted: Promise<Service> | undefined;
      for await (const event of client.events(job.id)) {
        seen.push(event);
        if (event.body.type === 'attempt_started') {
          first.child.kill('SIGKILL');
          await first.exit;
          restarted = start({ PORT });
          const step = { type: 'step' as const, stage: 'math', phase: 0, step: 1, metrics: { reward: 1 } };
          // Sent while nothing listens: the client repeats it until the service is back.
          await client.runner.report({ ...fence, sequence: 1, entries: [step, { ...step, step: 2 }] });
          await client.runner.finish({ ...fence, outcome: { type: 'succeeded' } });
        }
      }
      expect((await restarted)?.url).toBe(first.url);
      expect(seen.map((event) => event.seq)).toEqual(seen.map((_, index) => index + 1));
      expect(seen.at(-1)?.body).toMatchObject({ type: 'state', to: 'succeeded' });
      expect(seen.filter((event) => event.body.type === 'step')).toHaveLength(2);
    },
  );

  test(
    'when the database drops every connection, streams go on and hints come again',
    { timeout: 60_000 },
    async () => {
      const service = await start();
      const client = createClient({ url: service.url, key, tries: 100, pauseMs: 20 });
      await registerDatasets(client);
      const job = await client.createJob(spec({ priority: 10 }));
      const admin = connect(database.url, 1);
      const seen: number[] = [];
      for await (const event of client.events(job.id)) {
        seen.push(event.seq);
        if (seen.length > 1) continue;
        await admin.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
        await client.cancelJob(job.id);
      }
      expect(seen).toEqual([1, 2]);
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
      expect(service.child.exitCode).toBeNull();
      await expect
        .poll(
          async () =>
            (
              await admin.sql`select 1 from pg_stat_activity where datname = current_database() and query ilike 'listen %'`
            ).length,
          { timeout: 10_000 },
        )
        .toBe(1);
      await admin.close();
    },
  );

  test('refusals are counted by the other end of the connection, or by what the proxy there says', async () => {
    const codes = async ({ url }: Service, ...addresses: string[]): Promise<number[]> => {
      const all: number[] = [];
      for (const address of addresses)
        all.push((await fetch(`${url}/v1/jobs`, { headers: { 'x-forwarded-for': address } })).status);
      return all;
    };
    const MILLRACE_REFUSALS_PER_MINUTE = '2';
    const bare = await start({ MILLRACE_REFUSALS_PER_MINUTE });
    // Whatever the client claims to be, it is the one that is connected.
    expect(await codes(bare, '203.0.113.1', '203.0.113.2', '203.0.113.3')).toEqual([401, 401, 429]);
    const MILLRACE_ADDRESS_HEADER = 'x-forwarded-for';
    const behind = await start({ MILLRACE_REFUSALS_PER_MINUTE, MILLRACE_ADDRESS_HEADER });
    expect(
      await codes(behind, '9.9.9.9, 203.0.113.1', '8.8.8.8, 203.0.113.1', '203.0.113.1', '203.0.113.2'),
    ).toEqual([401, 401, 429, 401]);
  }, 60_000);
});

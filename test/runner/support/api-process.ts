// The real API as a process on a database of its own, for tests that kill it and start it again at the same address.
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient } from '../../../api/client.ts';
import type { Client } from '../../../api/client.ts';
import { createDatabase } from '../../support/postgres.ts';

const root = resolve(import.meta.dirname, '../../..');

export interface ApiProcess {
  readonly url: string;
  readonly runnerKey: string;
  readonly client: Client;
  readonly adminKey: string;
  /** A new key. */
  key(scopes: string, project?: string): string;
  /** kill -9, then the same again at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((done) => child.once('exit', () => done()));
}

async function start(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [resolve(root, 'api/node.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout! })) {
    const { msg, url } = JSON.parse(line) as { msg: string; url?: string };
    if (msg !== 'listening' || url === undefined) continue;
    child.stdout!.resume();
    return { child, url };
  }
  throw new Error('the API ended before it listened');
}

export async function startApi(storeUrl: string): Promise<ApiProcess> {
  const database = await createDatabase();
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
    DATABASE_URL: database.url,
    STORE_URL: storeUrl,
    PORT: '0',
    // Long enough to start the API again on a busy machine.
    MILLRACE_LEASE_MS: '8000',
    MILLRACE_HEARTBEAT_MS: '200',
    MILLRACE_TICK_MS: '200',
    // Tests poll without pause.
    MILLRACE_REQUESTS_PER_MINUTE: '1000000',
    MILLRACE_REQUEST_BURST: '1000000',
  };
  const key = (scopes: string, project = 'default'): string => {
    const args = [resolve(root, 'api/keys.ts'), '--name', scopes, '--scopes', scopes, '--project', project];
    return (JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' })) as { key: string })
      .key;
  };
  const [admin, runnerKey] = [key('admin'), key('runner')];
  const { child: first, url } = await start(env);
  let child = first;
  env['PORT'] = new URL(url).port;
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited(child);
  };
  return {
    url,
    runnerKey,
    adminKey: admin,
    key,
    client: createClient({ url, key: admin, tries: 20 }),
    async restart() {
      await kill();
      ({ child } = await start(env));
    },
    async stop() {
      await kill();
      await database.drop();
    },
  };
}

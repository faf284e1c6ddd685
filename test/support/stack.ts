// The service as separate real processes, as in production: API and runner, kept alive as a process manager would, on
// the test run's Postgres and whichever store the test names. Leases are short, so that a kill costs seconds.
import { join, resolve } from 'node:path';
import type { Client } from '../../api/client.ts';
import { createClient } from '../../api/client.ts';
import type { ClientOptions } from '../../api/client.ts';
import type { Scope } from '../../api/contract/keys.ts';
import type { ProcessIdentity } from '../../cli/serve/process-tree.ts';
import type { Service } from '../../cli/serve/service.ts';
import { startService } from '../../cli/serve/service.ts';
import { cleanEnv } from '../cli/run-cli.ts';
import { connect } from '../../db/connect.ts';
import { createKey } from '../../db/keys.ts';
import { ensureProject } from '../../db/projects.ts';
import { createDatabase } from './postgres.ts';

const root = resolve(import.meta.dirname, '../..');

export interface StackOptions {
  /** Logs and scratch go there. */
  readonly dir: string;
  readonly storeUrl: string;
  readonly storeEnv?: Readonly<Record<string, string>>;
  /** Settings of API and runner alike. */
  readonly env?: Readonly<Record<string, string>>;
  /** Settings of the runner beside those that every runner needs. */
  readonly runnerEnv?: Readonly<Record<string, string | undefined>>;
}

export interface Stack {
  readonly client: Client;
  readonly connection: ClientOptions;
  /** Process id of the API or the supervisor that runs now. */
  pid(name: 'api' | 'runner'): number;
  /** How often a process of this name has been started. */
  starts(name: 'api' | 'runner'): number;
  stop(): Promise<void>;
}

export async function startStack({
  dir,
  storeUrl,
  storeEnv = {},
  env: shared = {},
  runnerEnv = {},
}: StackOptions): Promise<Stack> {
  const database = await createDatabase();
  const keys = await makeKeys(database.url);
  const running = new Map<string, ProcessIdentity[]>();
  const services: Service[] = [];
  const launch = (
    name: 'api' | 'runner',
    entry: string,
    env: () => NodeJS.ProcessEnv,
    readyIn?: (line: string) => string | undefined,
  ): Service => {
    const service = startService({
      name,
      entry: join(root, entry),
      env: () => ({ ...cleanEnv(), ...storeEnv, ...shared, STORE_URL: storeUrl, ...env() }),
      log: join(dir, `${name}.log`),
      ...(readyIn && { readyIn }),
      graceMs: 10_000,
      backoff: { firstMs: 50, mostMs: 500, calmMs: 10_000 },
      onProcess: (identity, state) => {
        if (state === 'started') running.set(name, [...(running.get(name) ?? []), identity]);
      },
      onRestart: () => undefined,
    });
    services.push(service);
    return service;
  };
  let port = '0';
  const url = await launch(
    'api',
    'api/node.ts',
    () => ({
      DATABASE_URL: database.url,
      PORT: port,
      MILLRACE_LEASE_MS: '3000',
      MILLRACE_HEARTBEAT_MS: '200',
      MILLRACE_TICK_MS: '100',
      // Tests poll without pause.
      MILLRACE_REQUESTS_PER_MINUTE: '1000000',
      MILLRACE_REQUEST_BURST: '1000000',
    }),
    (line) => /"url":"(http[^"]+)".*"msg":"listening"/.exec(line)?.[1],
  ).ready;
  port = new URL(url).port;
  launch('runner', 'runner/main.ts', () => ({
    MILLRACE_URL: url,
    MILLRACE_RUNNER_TOKEN: keys.runner,
    MILLRACE_SCRATCH: join(dir, 'scratch'),
    // What is stopped here is stopped for good.
    MILLRACE_DRAIN_MS: '0',
    ...runnerEnv,
  }));
  const connection = { url, key: keys.admin, tries: 20 };
  return {
    client: createClient(connection),
    connection,
    pid: (name) => running.get(name)!.at(-1)!.pid,
    starts: (name) => running.get(name)?.length ?? 0,
    async stop() {
      for (const service of services.reverse()) await service.stop();
      await database.drop();
    },
  };
}

async function makeKeys(databaseUrl: string): Promise<{ admin: string; runner: string }> {
  const { db, close } = connect(databaseUrl, 1);
  try {
    const projectId = await ensureProject(db, 'default');
    const make = async (scope: Scope): Promise<string> =>
      (await createKey(db, { projectId, name: scope, scopes: [scope] })).secret;
    return { admin: await make('admin'), runner: await make('runner') };
  } finally {
    await close();
  }
}

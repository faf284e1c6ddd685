// All of the service for one run, each part real and of the run's own: Postgres, an S3 server with a proxy before it (a folder where
// none can be started), API processes behind a balancer, runners, keys, and a key of somebody else's project.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import postgres from 'postgres';
import type { Client, ClientOptions } from '../../api/client.ts';
import { createClient } from '../../api/client.ts';
import type { Scope } from '../../api/contract/keys.ts';
import { connect } from '../../db/connect.ts';
import { createKey } from '../../db/keys.ts';
import { migrate } from '../../db/migrate.ts';
import { ensureProject } from '../../db/projects.ts';
import { openStore } from '../../store/open.ts';
import type { ObjectStore } from '../../store/store.ts';
import type { FaultProxy } from '../store/fault-proxy.ts';
import { startFaultProxy } from '../store/fault-proxy.ts';
import { newBucket, noRgw, startRgw } from '../support/rgw.ts';
import type { Balancer } from './balancer.ts';
import { startBalancer } from './balancer.ts';
import type { FaultDatabase } from './database.ts';
import { startDatabase } from './database.ts';
import type { Processes } from './processes.ts';
import { startProcesses } from './processes.ts';
import type { Site } from './schedule.ts';

export interface Installation {
  readonly dir: string;
  readonly site: Site;
  readonly leaseMs: number;
  readonly client: Client;
  /** Of a project that has nothing. */
  readonly stranger: Client;
  readonly database: FaultDatabase;
  readonly sql: postgres.Sql;
  readonly balancer: Balancer;
  readonly processes: Processes;
  /** Absent where the store is a folder. */
  readonly proxy: FaultProxy | undefined;
  /** As it is, past the proxy. */
  readonly store: ObjectStore;
  /** Ends the service's processes; the database and the store stay, to be looked at. */
  stopService(): Promise<void>;
  stop(): Promise<void>;
}

export interface InstallationOptions {
  readonly dir: string;
  readonly apis: number;
  readonly runners: number;
  readonly leaseMs: number;
}

interface Keys {
  readonly admin: string;
  readonly runner: string;
  readonly stranger: string;
}

export async function startInstallation(options: InstallationOptions): Promise<Installation> {
  const { dir, leaseMs, apis, runners } = options;
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const database = await startDatabase(join(dir, 'database'));
    ends.push(() => database.stop());
    await migrate(database.url);
    const keys = await makeKeys(database.url);
    const { store, proxy, storeEnv } = await startStore(dir, ends);
    const balancer = await startBalancer();
    ends.push(() => balancer.close());
    const site = { apis, runners, storeProxied: proxy !== undefined };
    const running = { dir, databaseUrl: database.url, storeEnv, runnerToken: keys.runner, balancer, leaseMs };
    const processes = await startProcesses({ ...site, ...running });
    let stopped: Promise<void> | undefined;
    const stopService = (): Promise<void> => (stopped ??= processes.stop());
    ends.push(stopService);
    const sql = postgres(database.url, { max: 4, fetch_types: false, onnotice: () => undefined });
    ends.push(() => sql.end({ timeout: 5 }));
    const as = (key: string): Client => createClient(connectionOf(balancer.url, key));
    const clients = { client: as(keys.admin), stranger: as(keys.stranger) };
    return {
      dir,
      site,
      leaseMs,
      ...clients,
      database,
      sql,
      balancer,
      processes,
      proxy,
      store,
      stopService,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Patient, as a client of a service that is being hurt must be. */
const connectionOf = (url: string, key: string): ClientOptions => ({
  url,
  key,
  tries: 60,
  timeoutMs: 10_000,
});

async function startStore(
  dir: string,
  ends: (() => Promise<unknown>)[],
): Promise<{ store: ObjectStore; proxy: FaultProxy | undefined; storeEnv: Record<string, string> }> {
  if (noRgw !== false) {
    const url = pathToFileURL(join(dir, 'store')).href;
    return { store: openStore(url, {}), proxy: undefined, storeEnv: { STORE_URL: url } };
  }
  const rgw = await startRgw();
  ends.push(() => rgw.stop());
  const { url, env } = await newBucket(rgw);
  const proxy = await startFaultProxy(rgw.endpoint);
  ends.push(async () => await proxy[Symbol.asyncDispose]());
  return {
    store: openStore(url, env),
    proxy,
    storeEnv: { ...env, S3_ENDPOINT: proxy.endpoint, STORE_URL: url },
  };
}

async function makeKeys(databaseUrl: string): Promise<Keys> {
  const { db, close } = connect(databaseUrl, 1);
  try {
    const projectId = await ensureProject(db, 'default');
    const othersId = await ensureProject(db, 'others');
    const make = async (project: string, scope: Scope): Promise<string> =>
      (await createKey(db, { projectId: project, name: scope, scopes: [scope] })).secret;
    return {
      admin: await make(projectId, 'admin'),
      runner: await make(projectId, 'runner'),
      stranger: await make(othersId, 'admin'),
    };
  } finally {
    await close();
  }
}

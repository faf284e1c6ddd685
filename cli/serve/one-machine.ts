// The whole service on one machine: Postgres, API and a runner, each a process of its own, in this order and stopped in
// the reverse. DATABASE_URL replaces the embedded Postgres, STORE_URL the folder that stands for the object store.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DataDir } from '../data-dir.ts';
import { UserError } from '../user-error.ts';
import { ensureKey } from './keys.ts';
import { takeLock } from './lock.ts';
import { localModelRoots } from './model-roots.ts';
import { untilReady } from './ready.ts';
import { endLeftovers, keepRecords } from './records.ts';
import type { Backoff, Service, ServiceOptions } from './service.ts';
import { startService } from './service.ts';

const root = resolve(import.meta.dirname, '../..');

/** From the polite signal to SIGKILL. Postgres writes everything down before it ends. */
const graceMs = { postgres: 30_000, api: 10_000, runner: 15_000 };
const defaultBackoff: Backoff = { firstMs: 200, mostMs: 10_000, calmMs: 60_000 };

export interface OneMachineOptions {
  readonly dir: DataDir;
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly withRunner: boolean;
  readonly say: (text: string) => void;
  /** Only tests change it. */
  readonly backoff?: Backoff;
}

export interface Address {
  readonly url: string;
  readonly key: string;
}

/**
 * Takes the data directory, starts everything, gives `work` the address, and stops everything when `work` has ended,
 * well or not, or when `interrupt` is aborted, which is then thrown. Nothing that was started is left afterwards.
 * @throws UserError where something cannot start: it names the part and its log.
 */
export async function withOneMachine<T>(
  options: OneMachineOptions,
  interrupt: AbortSignal,
  hurry: AbortSignal,
  work: (address: Address) => Promise<T>,
): Promise<T> {
  const { dir, say } = options;
  makeFolders(dir);
  const unlock = takeLock(dir.lock);
  const started: Service[] = [];
  try {
    const left = await endLeftovers(dir.processes);
    if (left > 0) say(`ended ${left} processes that a former serve had left`);
    const records = keepRecords(dir.processes);
    try {
      const address = await start(options, started, records.note, interrupt);
      return await work(address);
    } finally {
      for (const service of started.reverse()) await service.stop(hurry);
      await records.close();
    }
  } finally {
    unlock();
  }
}

function makeFolders(dir: DataDir): void {
  try {
    for (const folder of [dir.root, dir.logs, dir.store, dir.scratch]) mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new UserError(
      `${dir.root} cannot be the data directory: ${(error as Error).message}; choose another with --data-dir`,
      { cause: error },
    );
  }
}

/** Starts one part after the other, noting each in `started` as soon as it runs. */
async function start(
  options: OneMachineOptions,
  started: Service[],
  onProcess: ServiceOptions['onProcess'],
  interrupt: AbortSignal,
): Promise<Address> {
  const { dir } = options;
  const launch: Launch = (name, specific) => {
    const service = startService({ ...commonOptions(options, name), onProcess, ...specific });
    started.push(service);
    return service;
  };
  const storeUrl = process.env['STORE_URL'] ?? pathToFileURL(dir.store).href;
  const database = await startDatabase(launch, dir, interrupt);
  const url = await startApi(launch, options, { ...process.env, STORE_URL: storeUrl }, database, interrupt);
  await untilReady(url, { interrupt, say: options.say });

  const service = { url, databaseUrl: database.url };
  // Whoever runs the machine is admin of its project and operator of the whole.
  const mine = { ...service, file: dir.adminKey, name: 'admin', scopes: 'admin,operator' };
  const key = await ensureKey(mine, interrupt);
  writeFileSync(dir.url, `${url}\n`);
  if (!options.withRunner) return { url, key };
  const wanted = { ...service, file: dir.runnerToken, name: 'local-runner', scopes: 'runner' };
  const token = await ensureKey(wanted, interrupt);
  const env = {
    ...process.env,
    MILLRACE_URL: url,
    MILLRACE_RUNNER_TOKEN: token,
    MILLRACE_RUNNER_NAME: process.env['MILLRACE_RUNNER_NAME'] ?? 'local',
    MILLRACE_SCRATCH: dir.scratch,
    // Within its grace, with time left to end what it has started.
    MILLRACE_DRAIN_MS: process.env['MILLRACE_DRAIN_MS'] ?? String(graceMs.runner - 5_000),
    MILLRACE_MODEL_ROOTS: process.env['MILLRACE_MODEL_ROOTS'] ?? localModelRoots(),
    STORE_URL: storeUrl,
  };
  await orInterrupt(
    launch('runner', { entry: join(root, 'runner/main.ts'), env: () => env }).ready,
    interrupt,
  );
  return { url, key };
}

type PartName = keyof typeof graceMs;
type Launch = (
  name: PartName,
  specific: Pick<ServiceOptions, 'entry' | 'args' | 'env' | 'readyIn'>,
) => Service;

function commonOptions({ dir, say, backoff = defaultBackoff }: OneMachineOptions, name: PartName) {
  const log = join(dir.logs, `${name}.log`);
  return {
    name,
    log,
    graceMs: graceMs[name],
    backoff,
    onRestart: (why: string) => say(`${name} ended (${why}) and is started again; its log is ${log}`),
  };
}

interface DatabaseAddress {
  /** The current one: an embedded server that was started again may have another port. */
  readonly url: string;
  onChange: () => void;
}

async function startDatabase(launch: Launch, dir: DataDir, interrupt: AbortSignal): Promise<DatabaseAddress> {
  const external = process.env['DATABASE_URL'];
  if (external !== undefined) return { url: external, onChange: () => undefined };
  const postgres = launch('postgres', {
    entry: join(root, 'db/embedded-main.ts'),
    args: [dir.root],
    env: () => process.env,
    readyIn: (line) => jsonField(line, 'url'),
  });
  const address = { url: await orInterrupt(postgres.ready, interrupt), onChange: () => undefined };
  postgres.onReadyAgain = (url) => {
    if (url === address.url) return;
    address.url = url;
    address.onChange();
  };
  return address;
}

/** Its address; a restart takes the same port again. */
async function startApi(
  launch: Launch,
  { host, port }: OneMachineOptions,
  env: NodeJS.ProcessEnv,
  database: DatabaseAddress,
  interrupt: AbortSignal,
): Promise<string> {
  let bound = port;
  const api = launch('api', {
    entry: join(root, 'api/node.ts'),
    env: () => ({ ...env, DATABASE_URL: database.url, HOST: host, PORT: String(bound) }),
    readyIn: (line) => (jsonField(line, 'msg') === 'listening' ? jsonField(line, 'url') : undefined),
  });
  database.onChange = () => api.restart();
  const url = await orInterrupt(api.ready, interrupt);
  bound = Number(new URL(url).port);
  return url;
}

function orInterrupt<T>(promise: Promise<T>, interrupt: AbortSignal): Promise<T> {
  interrupt.throwIfAborted();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(interrupt.reason as Error);
    interrupt.addEventListener('abort', onAbort, { once: true });
    promise
      .then(resolve, (error: Error) => reject(new UserError(error.message, { cause: error })))
      .finally(() => interrupt.removeEventListener('abort', onAbort));
  });
}

function jsonField(line: string, name: string): string | undefined {
  try {
    const value = (JSON.parse(line) as Record<string, unknown> | null)?.[name];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

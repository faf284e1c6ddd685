// The whole service on one machine: Postgres, API and a runner, each a process of its own, in this order and stopped in
// the reverse. DATABASE_URL replaces the embedded Postgres, STORE_URL the folder that stands for the object store.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DataDir } from '../data-dir.ts';
import { UserError } from '../user-error.ts';
import { ensureKey } from './keys.ts';
import { takeLock } from './lock.ts';
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
  for (const folder of [dir.root, dir.logs, dir.store, dir.scratch]) mkdirSync(folder, { recursive: true });
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

async function start(
  options: OneMachineOptions,
  started: Service[],
  onProcess: ServiceOptions['onProcess'],
  interrupt: AbortSignal,
): Promise<Address> {
  const { dir, say } = options;
  const storeUrl = process.env['STORE_URL'] ?? pathToFileURL(dir.store).href;
  const launch = (
    name: keyof typeof graceMs,
    specific: Pick<ServiceOptions, 'entry' | 'args' | 'env' | 'readyIn'>,
  ): Service => {
    const service = startService({
      name,
      ...specific,
      entry: join(root, specific.entry),
      log: join(dir.logs, `${name}.log`),
      graceMs: graceMs[name],
      backoff: options.backoff ?? defaultBackoff,
      onProcess,
      onRestart: (why) =>
        say(`${name} ended (${why}) and is started again; its log is ${join(dir.logs, `${name}.log`)}`),
    });
    started.push(service);
    return service;
  };
  const ready = (service: Service): Promise<string> => orInterrupt(service.ready, interrupt);

  const external = process.env['DATABASE_URL'];
  const postgres = external === undefined ? launch('postgres', postgresService(dir)) : undefined;
  let databaseUrl = postgres === undefined ? external! : await ready(postgres);

  let port = options.port;
  const api = launch('api', {
    entry: 'api/node.ts',
    env: () => ({
      ...process.env,
      DATABASE_URL: databaseUrl,
      STORE_URL: storeUrl,
      HOST: options.host,
      PORT: String(port),
    }),
    readyIn: (line) => (jsonField(line, 'msg') === 'listening' ? jsonField(line, 'url') : undefined),
  });
  if (postgres !== undefined)
    postgres.onReadyAgain = (address) => {
      if (address === databaseUrl) return;
      databaseUrl = address;
      api.restart();
    };
  const url = await ready(api);
  port = Number(new URL(url).port);
  await untilReady(url, interrupt);

  const key = await ensureKey(
    { url, databaseUrl, file: dir.adminKey, name: 'admin', scopes: 'admin' },
    interrupt,
  );
  writeFileSync(dir.url, `${url}\n`);
  if (!options.withRunner) return { url, key };
  const token = await ensureKey(
    { url, databaseUrl, file: dir.runnerToken, name: 'local-runner', scopes: 'runner' },
    interrupt,
  );
  await ready(
    launch('runner', {
      entry: 'runner/main.ts',
      env: () => ({
        ...process.env,
        MILLRACE_URL: url,
        MILLRACE_RUNNER_TOKEN: token,
        MILLRACE_RUNNER_NAME: process.env['MILLRACE_RUNNER_NAME'] ?? 'local',
        MILLRACE_SCRATCH: dir.scratch,
        STORE_URL: storeUrl,
      }),
    }),
  );
  return { url, key };
}

const postgresService = (dir: DataDir): Pick<ServiceOptions, 'entry' | 'args' | 'env' | 'readyIn'> => ({
  entry: 'db/embedded-main.ts',
  args: [dir.root],
  env: () => process.env,
  readyIn: (line) => jsonField(line, 'url'),
});

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

// The API as a process of its own on Node: `node api/node.ts`. Settings come from the environment (node/settings.ts).
// Brings the database up to date, listens, keeps the clock, and on SIGTERM or SIGINT ends what is open and leaves.
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { connect, sessionOf } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { StoreError } from '../store/error.ts';
import { openStore } from '../store/open.ts';
import { createApp } from './app.ts';
import { createHints } from './events/hints.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics/metrics.ts';
import { addressOf } from './node/address.ts';
import { startClock } from './node/clock.ts';
import { listenForHints } from './node/listen.ts';
import { readSettings } from './node/settings.ts';
import { Outgoing } from './outgoing.ts';
import { SettingsError } from './settings.ts';

/** Open requests have this long to end. */
const graceMs = 5_000;
const connections = 10;

async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const log = createLog(settings.logLevel);
  const store = openStore(settings.storeUrl, process.env);
  await migrate(settings.databaseUrl).catch((cause: unknown) => {
    throw new SettingsError(`the database of DATABASE_URL cannot be used: ${reasonOf(cause)}`);
  });
  const connected = connect(settings.databaseUrl, connections, sessionOf(settings.timing.leaseMs));
  const hints = createHints();
  const metrics = createMetrics();
  const stopping = new AbortController();
  const app = createApp({
    db: connected.db,
    store,
    hints,
    log,
    metrics,
    metricsToken: settings.metricsToken,
    stopping: stopping.signal,
    timing: settings.timing,
    limits: settings.limits,
    addressOf: addressOf(settings.addressHeader),
    allowPrivateAddresses: settings.allowPrivateAddresses,
    models: settings.models,
  });
  const clock = startClock(
    {
      db: connected.db,
      store,
      log,
      metrics,
      now: () => new Date(),
      outgoing: new Outgoing({ allowPrivate: settings.allowPrivateAddresses }),
      keep: settings.keep,
    },
    { quick: settings.tickMs, slow: settings.cleanMs },
  );
  await listenForHints(connected.sql, hints, log);
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  // A model takes as long to send as its line needs; what a body may weigh, and that headers come soon, is limited elsewhere.
  server.requestTimeout = 0;
  const url = await listen(server, settings.host, settings.port);
  log.info({ url, store: store.describe() }, 'listening');

  const stop = (signal: NodeJS.Signals): void => {
    log.info({ signal }, 'stopping');
    stopping.abort();
    void closeServer(server)
      .then(() => clock.stop())
      .then(() => connected.close())
      .then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const hint = error.code === 'EADDRINUSE' ? '; choose another port (serve: --port, else PORT)' : '';
      reject(new SettingsError(`cannot listen on ${host}:${port}: ${error.message}${hint}`));
    });
    server.listen(port, host, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`);
    });
  });
}

/** Connections are closed as soon as their answer has gone out, all of them when the grace is over. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), 50);
    const late = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(late);
      resolve();
    });
  });
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  const errors = inner instanceof AggregateError ? inner.errors.map(String).join('; ') : '';
  return inner.message || errors || String((inner as { code?: unknown }).code ?? inner.name);
}

main().catch((error: unknown) => {
  const known = error instanceof SettingsError || error instanceof StoreError;
  console.error(known ? `millrace api: ${error.message}` : error);
  process.exit(1);
});

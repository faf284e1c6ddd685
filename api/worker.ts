// The API as a Cloudflare Worker: the same app, on Postgres through Hyperdrive and objects in R2 (bindings of
// wrangler.toml); the cron trigger is its clock, but for webhooks, which a process on Node delivers. What a Worker cannot do is in docs/worker.md.
import { connect } from '../db/connect.ts';
import { createApp } from './app.ts';
import { consoleLog } from './log.ts';
import { unheardMetrics } from './metrics/metrics.ts';
import { ProblemError, problemResponse } from './problem.ts';
import { clean } from './retention/clean.ts';
import type { Environment } from './settings.ts';
import { SettingsError } from './settings.ts';
import { tick } from './tick.ts';
import type { WorkerSettings } from './worker/settings.ts';
import { readSettings } from './worker/settings.ts';

interface Lifetime {
  waitUntil(work: Promise<unknown>): void;
}

/** A Worker has six connections at a time, and one request needs one and, in a transaction, another. */
const mostConnections = 3;

const worker = {
  async fetch(request: Request, env: Environment, lifetime: Lifetime): Promise<Response> {
    let settings: WorkerSettings;
    try {
      settings = readSettings(env);
    } catch (error) {
      return misconfigured(error);
    }
    // Sockets belong to the request that opened them: no pool outlives it.
    const { db, close } = connect(settings.databaseUrl, mostConnections);
    const { databaseUrl: _, logLevel, ...rest } = settings;
    const app = createApp({ ...rest, db, log: consoleLog(logLevel), metrics: unheardMetrics() });
    const response = await app.fetch(request, env);
    return whenRead(response, lifetime, close);
  },

  async scheduled(_event: unknown, env: Environment): Promise<void> {
    const settings = readSettings(env);
    const { db, close } = connect(settings.databaseUrl, mostConnections);
    const log = consoleLog(settings.logLevel);
    const { store, keep } = settings;
    const { signal } = new AbortController();
    const cleaning = clean({ db, store, log, now: () => new Date(), keep, signal });
    // The connection stays until both have ended, also where one has failed.
    const [ticked] = await Promise.allSettled([tick(db, log, unheardMetrics()), cleaning]);
    await close();
    if (ticked.status === 'rejected') throw ticked.reason;
  },
};

export default worker;

/** The answer, and `close` once the last of it was read, or its reader has gone. */
function whenRead(response: Response, lifetime: Lifetime, close: () => Promise<void>): Response {
  if (response.body === null) {
    lifetime.waitUntil(close());
    return response;
  }
  const through = new TransformStream<Uint8Array, Uint8Array>();
  const read = response.body.pipeTo(through.writable).catch(() => undefined);
  lifetime.waitUntil(read.then(close));
  return new Response(through.readable, response);
}

/** Says no more than the names of settings, which are in the documentation. */
function misconfigured(error: unknown): Response {
  if (!(error instanceof SettingsError)) throw error;
  console.error(JSON.stringify({ level: 50, msg: `the Worker is not set up: ${error.message}` }));
  return problemResponse(new ProblemError('misconfigured', `the Worker is not set up: ${error.message}`));
}

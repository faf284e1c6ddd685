// Entry of `millrace runner --serve`: one model, one HTTP server that only the API can use, a registration kept alive. It
// claims no jobs. SIGTERM and SIGINT: goodbye to the service, open answers are ended, gone.
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { resolve } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { pino } from 'pino';
import type { Logger } from 'pino';
import { createClient } from '../api/client.ts';
import { PROTOCOL_VERSION } from '../api/contract/runner.ts';
import { createRuntime } from './engine/ort/create.ts';
import { ChatEngine } from './serve/chat-engine.ts';
import { explainStart } from './serve/explain-start.ts';
import { modelDirectory } from './serve/model-directory.ts';
import { keepRegistered, ServingRefused } from './serve/registration.ts';
import { servingApp } from './serve/server.ts';
import type { ServingSettings } from './serve/settings.ts';
import { readServingSettings, ServingSettingsError } from './serve/settings.ts';

/** The address is taken, or is none of ours. */
class CannotListen extends Error {
  override readonly name = 'CannotListen';
}

async function main(): Promise<void> {
  const settings = readServingSettings(process.argv.slice(2), process.env);
  const log = pino({ name: 'serving runner' });
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(1); // asked twice: at once
      stopping.abort();
    });
  }
  const runtime = createRuntime({
    provider: settings.accelerator,
    warn: (message) => log.warn(message),
    tell: (message) => log.info(message),
  });
  const directory = await modelDirectory(settings.model, process.env);
  const room = { rows: settings.parallel, contextTokens: settings.context };
  const engine = await ChatEngine.open(runtime, directory, room);
  const app = servingApp({ engine, secret: settings.secret, log, stopping: stopping.signal });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  const bound = await listen(server, settings.listen);
  log.info(
    { url: bound, model: settings.checkpoint ?? settings.as, context: engine.contextTokens },
    'listening',
  );
  await register(settings, bound, stopping.signal, log);
  log.info('stopping');
  server.close();
  server.closeAllConnections();
}

function register(
  settings: ServingSettings,
  bound: string,
  stopping: AbortSignal,
  log: Logger,
): Promise<void> {
  const { url, token, name, secret, checkpoint, as } = settings;
  const client = createClient({ url, key: token });
  const request = {
    protocol: PROTOCOL_VERSION,
    name,
    secret,
    checkpoint: checkpoint ?? null,
    model: as ?? null,
    url: settings.advertise ?? bound,
    version: version(),
  };
  return keepRegistered(client, request, stopping, log);
}

function version(): string {
  const text = readFileSync(resolve(import.meta.dirname, '../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<string> {
  return new Promise((done, fail) => {
    server.once('error', (error) =>
      fail(new CannotListen(`cannot listen on ${host}:${port}: ${error.message}`)),
    );
    server.listen(port, host, () => {
      const address = server.address();
      const taken = typeof address === 'object' && address !== null ? address.port : port;
      done(`http://${host.includes(':') ? `[${host}]` : host}:${taken}`);
    });
  });
}

const known = [ServingSettingsError, ServingRefused, CannotListen];
try {
  await main();
} catch (error) {
  console.error(`millrace runner: ${explainStart(error, known)}`);
  process.exitCode = error instanceof ServingSettingsError ? 2 : 3;
}
process.exit();

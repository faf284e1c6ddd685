// Which API the tests of the interface speak to: MILLRACE_API_TARGET is `app` (in this process, the default), `node` (a
// process of its own, over HTTP) or `worker` (in workerd, as `wrangler dev --local` runs it). All on a database of the
// test file's own; TEST_POSTGRES=system takes the machine's Postgres instead of the embedded one.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { AppOptions } from '../../api/app.ts';
import { allowPrivateVariable } from '../../api/contract/outgoing.ts';
import { filesystemStore } from '../../store/filesystem.ts';
import type { ObjectStore } from '../../store/store.ts';
import { startWorker } from './worker.ts';

export const apiTarget = z
  .enum(['app', 'node', 'worker'], 'MILLRACE_API_TARGET is app, node or worker')
  .default('app')
  .parse(process.env['MILLRACE_API_TARGET']);

export interface RemoteApi {
  readonly url: string;
  readonly store: ObjectStore;
  stop(): Promise<void>;
}

/** What of an app's options a setting can say; the rest is for tests of the app alone. */
const settingsOf = ({ allowPrivateAddresses }: Partial<AppOptions>): Record<string, string> =>
  allowPrivateAddresses === true ? { [allowPrivateVariable]: '1' } : {};

export async function startRemoteApi(databaseUrl: string, options: Partial<AppOptions>): Promise<RemoteApi> {
  if (apiTarget === 'worker') return await startWorker(databaseUrl, settingsOf(options));
  return await startNode(databaseUrl, settingsOf(options));
}

async function startNode(databaseUrl: string, settings: Record<string, string>): Promise<RemoteApi> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-test-node-api-'));
  const child = spawn(process.execPath, [resolve(import.meta.dirname, '../../api/node.ts')], {
    env: {
      ...process.env,
      ...settings,
      PORT: '0',
      DATABASE_URL: databaseUrl,
      STORE_URL: pathToFileURL(folder).href,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((done) => child.once('exit', done));
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as { msg: string; url: string };
    if (said.msg !== 'listening') continue;
    child.stdout.resume();
    return {
      url: said.url,
      store: filesystemStore(folder),
      async stop() {
        child.kill('SIGTERM');
        await exited;
        await rm(folder, { recursive: true, force: true });
      },
    };
  }
  throw new Error('the API ended before it listened');
}

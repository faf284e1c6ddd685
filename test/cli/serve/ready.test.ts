// A service whose store cannot be reached is not ready, and whoever waits for it is told why.
import { join, resolve } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { untilReady } from '../../../cli/serve/ready.ts';
import type { Service } from '../../../cli/serve/service.ts';
import { startService } from '../../../cli/serve/service.ts';
import { createDatabase } from '../../support/postgres.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { cleanEnv } from '../run-cli.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function apiWith(env: Record<string, string>): Promise<Service> {
  const [database, dir] = [await createDatabase(), await tempDir('ready')];
  const service = startService({
    name: 'api',
    entry: resolve(import.meta.dirname, '../../../api/node.ts'),
    env: () => ({ ...cleanEnv(), DATABASE_URL: database.url, PORT: '0', ...env }),
    log: join(dir.path, 'log'),
    readyIn: (line) => /"url":"(http[^"]+)"/.exec(line)?.[1],
    graceMs: 10_000,
    backoff: { firstMs: 10, mostMs: 10, calmMs: 1 },
    onProcess: () => undefined,
    onRestart: () => undefined,
  });
  cleanUps.push(database.drop, dir.remove, () => service.stop());
  return service;
}

it('names the store that does not answer', { timeout: 60_000 }, async () => {
  const api = await apiWith({
    STORE_URL: 's3://bucket',
    S3_ENDPOINT: 'http://127.0.0.1:9',
    S3_ACCESS_KEY_ID: 'a',
    S3_SECRET_ACCESS_KEY: 'b',
  });
  const told: string[] = [];
  const waited = untilReady(await api.ready, {
    interrupt: new AbortController().signal,
    say: (text) => told.push(text),
    patienceMs: 4000,
  });
  await expect(waited).rejects.toThrow(
    /^the service is not ready after 4 s: the store is unavailable: \w+ \(look at STORE_URL/,
  );
  expect(told).toEqual([expect.stringMatching(/^the service is not ready yet: the store is unavailable/)]);
});

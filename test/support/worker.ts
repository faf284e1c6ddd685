// The API as a Worker for tests: in workerd, with R2 in memory, as `wrangler dev --local` runs it.
import { resolve } from 'node:path';
import { createTestHarness } from 'wrangler';
import type { R2Bucket } from '../../store/r2-bucket.ts';
import { r2Store } from '../../store/r2.ts';
import type { ObjectStore } from '../../store/store.ts';

/** No word to anybody outside this machine. */
export const offline = { WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' };

export const workerConfig = resolve(import.meta.dirname, '../../wrangler.toml');

export interface LocalWorker {
  readonly url: string;
  /** The Worker's bucket, from outside. */
  readonly store: ObjectStore;
  /** What it has logged. */
  logs(): string[];
  /** Its clock strikes. */
  tick(): Promise<void>;
  stop(): Promise<void>;
}

/** @param vars Settings beside those of wrangler.toml. */
export async function startWorker(
  databaseUrl: string,
  vars: Readonly<Record<string, string>> = {},
): Promise<LocalWorker> {
  Object.assign(process.env, offline, {
    CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_HYPERDRIVE: databaseUrl,
  });
  const harness = createTestHarness({ workers: [{ configPath: workerConfig, vars }] });
  const { url } = await harness.listen();
  const worker = harness.getWorker<{ OBJECTS: R2Bucket; STORE_URL: string }>();
  const { OBJECTS: bucket, STORE_URL } = await worker.getEnv();
  return {
    url: url.origin,
    store: r2Store({ bucket, name: new URL(STORE_URL).hostname }),
    logs: () => harness.getLogs().map(({ message }) => message),
    async tick() {
      await worker.scheduled({ cron: '* * * * *', scheduledTime: new Date() });
    },
    stop: () => harness.close(),
  };
}

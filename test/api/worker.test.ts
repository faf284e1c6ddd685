// The API's Worker entry: bundled as for a deployment, and answering inside workerd. Needs no network, no account.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { unstable_startWorker } from 'wrangler';

const root = resolve(import.meta.dirname, '../..');
const bundle = mkdtempSync(join(tmpdir(), 'millrace-worker-'));
const offline = { WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' };

afterAll(() => rmSync(bundle, { recursive: true }));

test('bundles for a deployment', () => {
  const wrangler = resolve(root, 'node_modules/wrangler/bin/wrangler.js');
  const args = [wrangler, 'deploy', '--dry-run', '--outdir', bundle];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...offline, CI: '1' },
  });
  expect(status, stdout + stderr).toBe(0);
  expect(readdirSync(bundle)).toContain('worker.js');
});

test('answers /healthz in workerd, and 404 elsewhere', async () => {
  Object.assign(process.env, offline);
  const worker = await unstable_startWorker({
    config: resolve(root, 'wrangler.toml'),
    dev: { server: { port: 0 }, inspector: false, logLevel: 'error', watch: false },
  });
  try {
    const health = await worker.fetch('http://worker/healthz');
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    expect((await worker.fetch('http://worker/nothing')).status).toBe(404);
  } finally {
    await worker.dispose();
  }
});

// The API's Worker entry: bundled as for a deployment; what only a Worker has: its clock, its limits, its settings. That it
// answers as every API does is shown by the project `worker` (vitest.config.ts). Needs no network, no account.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../api/client.ts';
import { createKey } from '../../db/keys.ts';
import { ensureProject } from '../../db/projects.ts';
import { backdate } from '../db/support.ts';
import { useDatabase } from '../support/postgres.ts';
import type { LocalWorker } from '../support/worker.ts';
import { offline, startWorker } from '../support/worker.ts';
import { claimOne, registerDatasets, spec } from './support.ts';

const root = resolve(import.meta.dirname, '../..');
const bundle = mkdtempSync(join(tmpdir(), 'millrace-worker-'));
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

describe('in workerd', () => {
  const database = useDatabase();
  const token = 'a-token-for-metrics-1';
  let worker: LocalWorker;
  let key: string;
  beforeAll(async () => {
    const projectId = await ensureProject(database.db, 'ours');
    key = (await createKey(database.db, { projectId, name: 'admin', scopes: ['admin'] })).secret;
    worker = await startWorker(database.url, { MILLRACE_METRICS_TOKEN: token });
  });
  afterAll(() => worker.stop());

  test('the clock takes a job back whose lease has run out; metrics tell of the queue, not of requests', async () => {
    const client = createClient({ url: worker.url, key });
    await registerDatasets(client);
    const { id } = await client.createJob(spec());
    await claimOne(client);
    await backdate(database.db, id);
    await worker.tick();
    expect(await client.job(id)).toMatchObject({ state: 'queued', reason: 'lease_expired' });
    const headers = { authorization: `Bearer ${token}` };
    const metrics = await (await fetch(`${worker.url}/metrics`, { headers })).text();
    expect(metrics).toContain('millrace_jobs{state="queued",accelerator="cpu"} 1');
    expect(metrics).not.toContain('millrace_http');
  });

  test('a dataset larger than it can hold is refused with its limit', async () => {
    const answer = await fetch(`${worker.url}/v1/datasets?name=large&kind=math`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: Buffer.alloc((16 << 20) + 1, 10),
    });
    const { code, detail } = (await answer.json()) as { code: string; detail: string };
    expect([answer.status, code, detail]).toEqual([413, 'too_large', expect.stringContaining('16777216')]);
  });
});

test('without its settings every answer names them', async () => {
  const { default: entry } = await import('../../api/worker.ts');
  const answer = await entry.fetch(new Request('http://worker/healthz'), {}, { waitUntil: () => undefined });
  const { code, detail } = (await answer.json()) as { code: string; detail: string };
  expect([answer.status, code]).toEqual([503, 'misconfigured']);
  for (const name of ['HYPERDRIVE', 'OBJECTS', 'STORE_URL']) expect(detail).toContain(name);
});

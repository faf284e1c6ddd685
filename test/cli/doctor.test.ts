// millrace doctor against real parts: all well, and each thing broken in turn.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Check } from '../../api/contract/check.ts';
import { nodeCheck } from '../../cli/doctor/checks-here.ts';
import { checkLine } from '../../cli/doctor/text.ts';
import { createDatabase } from '../support/postgres.ts';
import { runCli } from './run-cli.ts';
import { startApi, type ApiProcess } from '../runner/support/api-process.ts';

let folder: string;
let api: ApiProcess;
let database: Awaited<ReturnType<typeof createDatabase>>;
let env: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-test-doctor-'));
  const storeUrl = pathToFileURL(join(folder, 'store')).href;
  api = await startApi(storeUrl);
  database = await createDatabase();
  env = {
    MILLRACE_URL: api.url,
    MILLRACE_KEY: api.adminKey,
    DATABASE_URL: database.url,
    STORE_URL: storeUrl,
    MILLRACE_SCRATCH: join(folder, 'scratch'),
  };
});
afterAll(async () => {
  await api.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function doctor(
  changes: Record<string, string> = {},
): Promise<{ code: number | null; of: Map<string, Check> }> {
  const { code, stdout } = await runCli(['doctor', '--json'], { ...env, ...changes });
  const checks = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Check);
  return { code, of: new Map(checks.map((check) => [check.name, check])) };
}

describe('what it finds', () => {
  test('without a runner: that, and nothing else, is broken', async () => {
    const { code, of } = await doctor();
    const broken = [...of.values()].filter(({ result }) => result === 'broken').map(({ name }) => name);
    expect(broken).toEqual(['runners']);
    expect(code).toBe(1);
    for (const name of [
      'Node',
      'database',
      'migrations',
      'clock of the database',
      'store',
      'scratch',
      'service',
      'key',
    ])
      expect([name, of.get(name)?.result]).toEqual([name, 'ok']);
  }, 120_000);

  test('with a runner that is alive: its languages, and why others are missing', async () => {
    await api.client.runner
      .register({
        protocol: 1,
        name: 'r',
        accelerator: 'cpu',
        memory_gb: 8,
        labels: {},
        version: 't',
        languages: ['python'],
        missing: { javascript: 'no sandbox' },
      })
      .catch(() => undefined);
    const { of } = await doctor({
      DATABASE_URL: 'postgres://millrace:secret-word@127.0.0.1:1/none',
      STORE_URL: 'https://no.store',
    });
    expect(of.get('runner r')?.found).toMatch(
      /alive, cpu, 8 GB, code in python; no javascript \(no sandbox\)/,
    );
    expect(of.get('database')).toMatchObject({
      result: 'broken',
      advice: expect.stringContaining('DATABASE_URL') as string,
    });
    expect(of.get('store')?.result).toBe('broken');
    expect(JSON.stringify([...of.values()])).not.toContain('secret-word');
  }, 120_000);

  test('a key that is not known', async () => {
    const { code, of } = await doctor({ MILLRACE_KEY: 'mr_wrong' });
    expect([code, of.get('key')?.result]).toEqual([1, 'broken']);
  }, 120_000);
});

test('as text a line says what to do; an old Node is named', () => {
  const line = checkLine(nodeCheck('20.1.0', false));
  expect(line).toBe('BROKEN   Node: 20.1.0 runs no TypeScript. What to do: install Node 22.18 or newer');
});

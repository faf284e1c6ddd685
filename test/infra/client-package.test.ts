// The client as others get it: packed, unpacked where nothing of this repository is, imported by JavaScript and by
// TypeScript, and driving a service that listens.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createAdaptorServer } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildClientPackage } from '../../infra/client-package/build.ts';
import { registerDatasets, spec, useApi } from '../api/support.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';

const root = resolve(import.meta.dirname, '../..');
const api = useApi();

let dir: TempDir;
let files: string[];
let server: Server;
let url: string;

beforeAll(async () => {
  dir = await tempDir('client-package');
  const built = join(dir.path, 'built');
  buildClientPackage(built);
  const packed = JSON.parse(
    execFileSync('npm', ['pack', built, '--json', '--ignore-scripts', '--pack-destination', dir.path], {
      encoding: 'utf8',
      cwd: dir.path,
    }),
  ) as
    | { filename: string; files: { path: string }[] }[]
    | Record<string, { filename: string; files: { path: string }[] }>;
  const [{ filename, files: listed }] = Object.values(packed) as [
    { filename: string; files: { path: string }[] },
  ];
  files = listed.map(({ path }) => path);
  const installed = join(dir.path, 'consumer/node_modules/millrace');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(dir.path, filename), '-C', installed, '--strip-components=1']);
  symlinkSync(join(root, 'node_modules/zod'), join(installed, '../zod'));
  server = createAdaptorServer({ fetch: api.app.fetch }) as Server;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await registerDatasets(api.client());
}, 240_000);
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await dir.remove();
});

const consumer = `
import { createClient, ApiError } from 'millrace/client';
import { jobSpec } from 'millrace/contract/spec';
import { isTerminal } from 'millrace/contract/job';

const client = createClient({ url: process.env.MILLRACE_URL, key: process.env.MILLRACE_KEY });
const spec = JSON.parse(process.env.SPEC);
jobSpec.parse(spec);
const { id } = await client.createJob(spec);
await client.cancelJob(id);
const events = [];
for await (const { body } of client.events(id)) if (body.type === 'state') events.push(body.to);
const listed = [];
for await (const job of client.all((query) => client.jobs(query), { limit: 1 })) listed.push(job.id);
const missing = await client.job('job_00000000000000000000000000').catch((error) => error);
console.log(JSON.stringify({
  events,
  terminal: isTerminal(events.at(-1)),
  listed: listed.includes(id),
  code: missing instanceof ApiError ? missing.code : String(missing),
}));
`;

const typed = `
import { createClient } from 'millrace/client';
import type { JobSpecInput } from 'millrace/contract/spec';

const client = createClient({ url: 'http://127.0.0.1:1', key: 'k' });
export const states = async (spec: JobSpecInput): Promise<'queued' | string> => (await client.createJob(spec)).state;
// @ts-expect-error there is no such call
client.noSuchCall();
// @ts-expect-error a job's state is one of a few
export const wrong = async () => (await client.job('x')).state === 'done';
`;

describe('the packed client', () => {
  test('holds client and contract, compiled, and nothing else', () => {
    const strangers = files.filter(
      (path) =>
        !/^(client(\/[\w-]+)?|contract\/[\w/.-]+)\.(js|d\.ts)$/.test(path) &&
        !['package.json', 'README.md', 'LICENSE'].includes(path),
    );
    expect(strangers).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining([
        'client.js',
        'client.d.ts',
        'contract/spec.js',
        'contract/spec.d.ts',
        'README.md',
        'LICENSE',
      ]),
    );
  });

  test('is driven by a program that has nothing else', async () => {
    const program = join(dir.path, 'consumer/main.mjs');
    writeFileSync(program, consumer);
    const env = {
      ...process.env,
      MILLRACE_URL: url,
      MILLRACE_KEY: api.keys.admin,
      SPEC: JSON.stringify(spec()),
      NODE_OPTIONS: '',
    };
    // Not waited for synchronously: the service is in this process.
    const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
    expect(JSON.parse(stdout)).toEqual({
      events: ['queued', 'cancelled'],
      terminal: true,
      listed: true,
      code: 'not_found',
    });
  });

  test('brings its types along', () => {
    writeFileSync(join(dir.path, 'consumer/typed.mts'), typed);
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--lib',
      'es2024,dom,dom.iterable',
      '--types',
      'node',
      '--typeRoots',
      join(root, 'node_modules/@types'),
    ];
    const { status, stdout } = spawnSync(process.execPath, [compiler, ...flags, 'typed.mts'], {
      cwd: join(dir.path, 'consumer'),
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, '']);
  }, 180_000);
});

test('in the repository the same names are the sources', async () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string>;
  };
  expect(exports).toEqual({ './client': './api/client.ts', './contract/*': './api/contract/*.ts' });
  const specifier = 'millrace/client';
  const { createClient } = (await import(specifier)) as { createClient: unknown };
  expect(createClient).toBeTypeOf('function');
});

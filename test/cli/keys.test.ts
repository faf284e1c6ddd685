// Keys from the command line: of a local service by its own admin key, and in the database where no key could ask yet.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../api/client.ts';
import { createDatabase } from '../support/postgres.ts';
import type { Serve } from '../support/serve.ts';
import { startServe } from '../support/serve.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { runCli } from './run-cli.ts';

let dir: TempDir;
let serve: Serve;
let database: Awaited<ReturnType<typeof createDatabase>>;
const data = (): string => join(dir.path, 'data');
const keyFile = (): string => join(data(), 'admin.key');
const cli = (...words: string[]) => runCli([...words, '--data-dir', data()]);

interface Made {
  id: string;
  key: string;
  project: string;
  scopes: string[];
  expires_at: string | null;
}
const made = ({ stdout }: { stdout: string }): Made => JSON.parse(stdout) as Made;
const statusOf = async (key: string, path = '/v1/jobs'): Promise<number> =>
  (await fetch(serve.url + path, { headers: { authorization: `Bearer ${key}` } })).status;

beforeAll(async () => {
  dir = await tempDir('keys');
  database = await createDatabase();
  serve = await startServe(data(), { env: { DATABASE_URL: database.url }, flags: ['--no-runner'] });
}, 120_000);
afterAll(async () => {
  await serve.stop();
  await database.drop();
  await dir.remove();
});

describe('keys of a local service', () => {
  it('are made, listed, rotated and revoked', async () => {
    const ci = made(
      await cli('keys', 'create', '--name', 'ci', '--scopes', 'submit,read', '--expires-in', '90d'),
    );
    expect(ci).toMatchObject({ scopes: ['submit', 'read'] });
    expect(Date.parse(ci.expires_at!) - Date.now()).toBeGreaterThan(89 * 86_400_000);
    expect(await statusOf(ci.key)).toBe(200);
    const next = made(await cli('keys', 'rotate', ci.id, '--grace', '1h'));
    expect([await statusOf(ci.key), await statusOf(next.key)]).toEqual([200, 200]);
    expect(await cli('keys', 'revoke', next.id)).toMatchObject({ code: 0, stdout: `${next.id} revoked\n` });
    expect(await statusOf(next.key)).toBe(401);
    const { stdout } = await cli('keys', 'list');
    const line = (id: string) => stdout.split('\n').find((one) => one.startsWith(id));
    expect(line(ci.id)).toMatch(/ci +mr_[0-9a-f]{8}… +submit,read +proj_\w+ +rotated until 20/);
    expect(line(next.id)).toContain('revoked');
    expect(stdout).not.toContain(ci.key);
    expect(stdout).toMatch(/^key_\w+ +admin +\S+ +admin,operator .* valid /m);
  }, 120_000);

  it('are refused with what is wrong', async () => {
    expect(await cli('keys', 'create', '--scopes', 'root')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--scopes root: comma-separated, of operator, admin') as string,
    });
    expect(await cli('keys', 'revoke', 'key_00000000000000000000000000')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no key') as string,
    });
    expect(
      (await cli('keys', 'rotate', 'key_00000000000000000000000000', '--grace', 'soon')).stderr,
    ).toContain('/grace: a whole number followed by s, m, h or d');
  });

  it('the admin of the machine is its operator', async () => {
    const key = readFileSync(keyFile(), 'utf8').trim();
    const client = createClient({ url: serve.url, key });
    const project = await client.createProject({ name: 'second' });
    const there = made(await cli('keys', 'create', '--scopes', 'admin', '--project', 'second'));
    expect(there.project).toBe(project.id);
    expect((await createClient({ url: serve.url, key: there.key }).keys()).data).toHaveLength(1);
  });
});

describe('keys in the database', () => {
  it('are made where DATABASE_URL is set and no key', async () => {
    const env = { DATABASE_URL: database.url };
    const first = made(
      await runCli(['keys', 'create', '--scopes', 'operator,admin', '--expires-in', '1h'], env),
    );
    expect(await statusOf(first.key, '/v1/projects')).toBe(200);
    // With a key the service is asked, and told who asks.
    const asked = await runCli(['keys', 'create', '--name', 'asked', '--scopes', 'read'], {
      ...env,
      MILLRACE_URL: serve.url,
      MILLRACE_KEY: first.key,
    });
    // It ends with the key that made it.
    expect(Date.parse(made(asked).expires_at!)).toBeLessThan(Date.now() + 3_600_000);
  });

  it('without either the command says what to set', async () => {
    const { code, stderr } = await runCli(['keys', 'create'], { MILLRACE_DATA: join(dir.path, 'none') });
    expect(code).toBe(1);
    expect(stderr).toContain('no service is known');
  });
});

it('a key of a former version, without the operator’s scope, is made anew by serve', async () => {
  const env = { DATABASE_URL: database.url };
  const old = made(await runCli(['keys', 'create', '--scopes', 'admin'], env)).key;
  await serve.stop();
  writeFileSync(keyFile(), `${old}\n`);
  serve = await startServe(data(), { env, flags: ['--no-runner'] });
  const now = readFileSync(keyFile(), 'utf8').trim();
  expect(now).not.toBe(old);
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
  expect(await statusOf(now, '/v1/projects')).toBe(200);
}, 120_000);

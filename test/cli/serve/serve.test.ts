// The one-machine service as a process: what it writes, who may share its directory, and that nothing outlives it,
// however it ends.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProcessIdentity } from '../../../cli/serve/process-tree.ts';
import { identityOf, isAlive, treeOf } from '../../../cli/serve/process-tree.ts';
import type { Serve } from '../../support/serve.ts';
import { startServe } from '../../support/serve.ts';
import type { TempDir } from '../../support/temp-dir.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/until.ts';
import { runCli } from '../run-cli.ts';

let dir: TempDir;
let serve: Serve;
const data = (): string => join(dir.path, 'data');

beforeEach(async () => {
  dir = await tempDir('serve');
  serve = await startServe(data());
}, 60_000);
afterEach(async () => {
  await serve.stop();
  await dir.remove();
}, 60_000);

const recorded = (): ProcessIdentity[] =>
  JSON.parse(readFileSync(join(data(), 'processes.json'), 'utf8')) as ProcessIdentity[];
const family = (): ProcessIdentity[] => treeOf(identityOf(serve.pid));
const list = () => runCli(['jobs', '--data-dir', data()]);

describe('serve', () => {
  it('writes keys that only this account reads, refuses a second one, and ends with all it started', async () => {
    expect(statSync(join(data(), 'admin.key')).mode & 0o777).toBe(0o600);
    expect(statSync(join(data(), 'runner.token')).mode & 0o777).toBe(0o600);
    expect(await list()).toMatchObject({ code: 0, stdout: expect.stringContaining('job  name') as string });

    const second = await runCli(['serve', '--port', '0', '--data-dir', data()]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`another millrace serve (process ${serve.pid}) uses this data directory`);

    const processes = family();
    expect(processes.length).toBeGreaterThan(5);
    expect(await serve.stop()).toBe(0);
    expect(processes.filter(isAlive)).toEqual([]);
  }, 60_000);

  it('starts the API again when it is killed, on the same address', async () => {
    const [, api] = recorded();
    process.kill(api!.pid, 'SIGKILL');
    await until(() => recorded().length === 3 && !recorded().some(({ pid }) => pid === api!.pid));
    await until(async () => (await list()).code === 0);
  }, 60_000);

  it('leaves nothing when it is killed, and the next one goes on with the same data', async () => {
    const key = readFileSync(join(data(), 'admin.key'), 'utf8');
    const processes = family();
    process.kill(serve.pid, 'SIGKILL');
    await until(() => processes.filter(isAlive).length === 0, 'every process has ended by itself', 30_000);
    serve = await startServe(data());
    expect(readFileSync(join(data(), 'admin.key'), 'utf8')).toBe(key);
    expect((await list()).code).toBe(0);
  }, 90_000);

  it('ends what was left where the guard was killed too', async () => {
    const before = recorded();
    const processes = family();
    const started = new Set(before.flatMap(treeOf).map(({ pid }) => pid));
    for (const { pid } of processes) if (!started.has(pid)) process.kill(pid, 'SIGKILL'); // serve and its guard
    serve = await startServe(data());
    expect(before.filter(isAlive)).toEqual([]);
    expect((await list()).code).toBe(0);
  }, 90_000);
});

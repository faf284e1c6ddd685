// What serve keeps alive: ready lines, restarts with back-off, and an end that leaves nothing.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProcessIdentity } from '../../../cli/serve/process-tree.ts';
import { identityOf, isAlive } from '../../../cli/serve/process-tree.ts';
import { keepRecords } from '../../../cli/serve/records.ts';
import type { Service } from '../../../cli/serve/service.ts';
import { startService } from '../../../cli/serve/service.ts';
import type { TempDir } from '../../support/temp-dir.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/until.ts';

let dir: TempDir;
let service: Service;
const alive = new Map<number, ProcessIdentity>();
beforeEach(async () => void (dir = await tempDir('service')));
afterEach(async () => {
  await service.stop();
  expect(alive.size).toBe(0);
  await dir.remove();
});

const pidsFile = (): string => join(dir.path, 'pids');
const log = (): string => join(dir.path, 'log');
const pids = (): number[] => readFileSync(pidsFile(), 'utf8').trim().split('\n').map(Number);

function scripted(mode: string, graceMs = 5000, logPath = log()): Service & { readonly restarts: string[] } {
  const restarts: string[] = [];
  service = startService({
    name: 'scripted',
    entry: join(import.meta.dirname, 'scripted-service.ts'),
    args: [mode, pidsFile()],
    env: () => process.env,
    log: logPath,
    readyIn: (line) => /^ready at (.+)$/.exec(line)?.[1],
    graceMs,
    backoff: { firstMs: 5, mostMs: 20, calmMs: 60_000 },
    onProcess: (identity, state) =>
      void (state === 'started' ? alive.set(identity.pid, identity) : alive.delete(identity.pid)),
    onRestart: (why) => restarts.push(why),
  });
  return Object.assign(service, { restarts });
}

describe('a service', () => {
  it('tells its address, logs its output, and ends when asked', async () => {
    const pid = Number(await scripted('stay').ready);
    const identity = identityOf(pid);
    expect(isAlive(identity)).toBe(true);
    await service.stop();
    expect(isAlive(identity)).toBe(false);
    expect(readFileSync(log(), 'utf8')).toBe(`ready at ${pid}\n`);
  });

  it('is started again each time it dies, and says why', async () => {
    const { ready, restarts } = scripted('crash');
    const again: string[] = [];
    service.onReadyAgain = (address) => again.push(address);
    await ready;
    await until(() => again.length >= 3);
    expect(restarts.slice(0, 3)).toEqual(['exit code 1', 'exit code 1', 'exit code 1']);
    expect(new Set(pids()).size).toBe(pids().length);
  });

  it('is started again after kill -9', async () => {
    const { ready, restarts } = scripted('stay');
    const pid = Number(await ready);
    process.kill(pid, 'SIGKILL');
    await until(() => pids().length === 2);
    expect(restarts).toEqual(['signal SIGKILL']);
  });

  it('is not started again when it dies before it is ready: the error holds the end of its log', async () => {
    await expect(scripted('mute').ready).rejects.toThrow(/exit code 3.*the flux is missing/s);
    expect(pids().length).toBe(1);
  });

  it('has nothing of former runs in that error', async () => {
    writeFileSync(log(), 'a fault of yesterday\n');
    const error: unknown = await scripted('mute').ready.catch((caught: unknown) => caught);
    expect(String(error)).toMatch(/: the flux is missing$/);
  });

  it.runIf(existsSync('/dev/full'))('goes on where its log is on a full disk', async () => {
    const pid = Number(await scripted('stay', 5000, '/dev/full').ready);
    expect(isAlive(identityOf(pid))).toBe(true);
  });

  it('goes on where no record of it can be written', async () => {
    const records = keepRecords(join(dir.path, 'absent', 'processes.json'));
    const pid = Number(await scripted('stay').ready);
    records.note(identityOf(pid), 'started');
    records.note(identityOf(pid), 'ended');
    await records.close();
    expect(isAlive(identityOf(pid))).toBe(true);
  });

  it('is killed when it ignores SIGTERM', async () => {
    const pid = Number(await scripted('stubborn', 100).ready);
    const identity = identityOf(pid);
    await service.stop();
    expect(isAlive(identity)).toBe(false);
    expect(readFileSync(log(), 'utf8')).toContain('did not end in time and was killed');
  });

  it('is killed at once where there is a hurry', async () => {
    await scripted('stubborn', 60_000).ready;
    await service.stop(AbortSignal.abort());
    expect(alive.size).toBe(0);
  });

  it('takes its descendants with it, though they lead groups of their own', async () => {
    await scripted('parent', 200).ready;
    await until(() => pids().length === 2);
    const family = pids().map(identityOf);
    expect(family.every(isAlive)).toBe(true);
    await service.stop();
    expect(family.filter(isAlive)).toEqual([]);
  });
});

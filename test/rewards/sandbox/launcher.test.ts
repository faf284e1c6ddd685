// The process that starts sandboxes, killed and outlived. Skipped where bubblewrap cannot be had.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSandbox } from '../../../runner/rewards/sandbox/open.ts';
import type { Sandbox } from '../../../runner/rewards/sandbox/sandbox.ts';
import { isRunning, launchers, sandboxProcesses } from './survivors.ts';

const trial = await openSandbox({ backEnds: ['bubblewrap'], slots: 1 });
await trial.close();
const why = Object.values(trial.missing)[0];

const SLEEPS = 'import os, time\nos.write(4, b"here")\ntime.sleep(60)';
const WAITS = 'import os\nos.read(4, 10)\nwhile True: pass';

/** A sandbox, two programs that run in it, and the process that started them. */
async function withBusySandbox(
  use: (sandbox: Sandbox, launcher: number, runs: Promise<unknown>) => Promise<void>,
): Promise<void> {
  const sandbox = await openSandbox({ backEnds: ['bubblewrap'], slots: 2 });
  try {
    const [launcher = 0] = await launchers();
    const python = (main: string) => ({ language: 'python', main }) as const;
    const talk = sandbox.converse(python(SLEEPS), python(WAITS));
    await expect.poll(async () => (await sandboxProcesses([launcher])).length).toBeGreaterThan(5);
    await use(sandbox, launcher, talk);
  } finally {
    await sandbox.close();
  }
}

describe.skipIf(why !== undefined)(`the launcher of sandboxes${why ? ` (skipped: ${why})` : ''}`, () => {
  it("that is killed takes its runs with it, which is nobody's fault, and the next program gets another", async () => {
    await withBusySandbox(async (sandbox, launcher, talk) => {
      process.kill(launcher, 'SIGKILL');
      const lost = { status: 'down', cause: expect.stringContaining('ended (SIGKILL)') as string };
      expect(await talk).toEqual({ judge: lost, candidate: lost });
      await expect.poll(() => sandboxProcesses([launcher])).toEqual([]);
      expect(await sandbox.run({ language: 'python', main: 'print(1)' })).toMatchObject({ stdout: '1\n' });
      const [next] = await launchers();
      expect(next).not.toBe(launcher);
    });
  });

  it('counts what it started, also after another took its place', async () => {
    await withBusySandbox(async (sandbox, launcher, talk) => {
      await sandbox.run({ language: 'python', main: 'for i in range(10 ** 7): pass' });
      const before = sandbox.cpuSeconds();
      expect(before).toBeGreaterThan(0.1);
      process.kill(launcher, 'SIGKILL');
      await talk;
      await sandbox.run({ language: 'python', main: '' });
      expect(sandbox.cpuSeconds()).toBeGreaterThan(before);
    });
  });

  it('has nothing of our environment', async () => {
    await withBusySandbox(async (_sandbox, launcher, talk) => {
      const environment = await readFile(`/proc/${launcher}/environ`, 'latin1');
      const names = environment.split('\0').map((one) => one.split('=')[0]);
      expect(names.filter((name) => !/^(PATH|TMPDIR|NODE_CHANNEL_\w+|)$/.test(name ?? ''))).toEqual([]);
      process.kill(launcher, 'SIGKILL');
      await talk;
    });
  });

  it('leaves signals to its owner', async () => {
    await withBusySandbox(async (sandbox, launcher, talk) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(launcher, signal);
      expect(await sandbox.run({ language: 'python', main: 'print(1)' })).toMatchObject({ stdout: '1\n' });
      expect(await launchers()).toContain(launcher);
      process.kill(launcher, 'SIGKILL');
      await talk;
    });
  });

  it('ends with its owner, and all sandboxes with it', async () => {
    const owner = fork(join(import.meta.dirname, 'launcher-owner.ts'), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    await once(owner, 'message');
    const started = await launchers();
    expect(started).toHaveLength(1);
    expect(await sandboxProcesses(started)).not.toEqual([]);
    owner.kill('SIGKILL');
    await expect.poll(() => sandboxProcesses(started), { timeout: 10_000 }).toEqual([]);
    for (const pid of started) await expect.poll(() => isRunning(pid)).toBe(false);
  });
});

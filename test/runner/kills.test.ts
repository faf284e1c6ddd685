// kill -9 of the runner's processes, each in the middle of its work.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../runner/checkpoint/read.ts';
import { startBench, until } from './support/bench.ts';
import { claim, spec } from './support/claims.ts';
import { FakeService } from './support/fake-service.ts';
import { childOf, isAlive } from './support/processes.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Bytes of an object that is being written into the filesystem store. */
function arrivingBytes(storeDir: string): number {
  const incoming = join(storeDir, '.incoming');
  if (!existsSync(incoming)) return 0;
  return readdirSync(incoming).reduce((sum, name) => sum + sizeOf(join(incoming, name)), 0);
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0; // renamed into place meanwhile
  }
}

describe.skipIf(process.platform !== 'linux')(
  'kill -9 (skipped where there is no /proc)',
  { timeout: 120_000 },
  () => {
    it('of the uploader during an upload: the transfer is redone, what arrives is whole', async () => {
      const bench = await startBench();
      try {
        bench.env['SCRIPT_MEGABYTES'] = '48';
        bench.service.claims.push(claim('train', { lease_ms: 30_000 }));
        await until('a large file arrives', () => arrivingBytes(bench.storeDir) > 1 << 20);
        const uploader = childOf(process.pid, 'uploader.ts')!;
        process.kill(uploader, 'SIGKILL');
        expect(bench.service.bodies('checkpoints')).toEqual([]);
        await until('the attempt has finished', () => bench.service.outcome !== undefined, 60_000);
        expect(bench.service.outcome).toEqual({ type: 'succeeded' });
        const commits = bench.service.bodies('checkpoints').map(({ checkpoint }) => checkpoint);
        expect(commits.map(({ step }) => step)).toEqual([2, 4]);
        for (const { prefix } of commits) await openCheckpoint(join(bench.storeDir, prefix));
        expect(childOf(process.pid, 'uploader.ts')).not.toBe(uploader);
      } finally {
        await bench.stop();
      }
    });

    it('an uploader that is stuck is ended, its transfer redone; the trainer that waits for it is not stalled', async () => {
      const bench = await startBench();
      try {
        bench.env['SCRIPT_MEGABYTES'] = '48';
        bench.service.claims.push(
          claim('train', { lease_ms: 30_000, spec: spec('train', { stall_timeout: '2s' }) }),
        );
        await until('a large file arrives', () => arrivingBytes(bench.storeDir) > 1 << 20);
        const uploader = childOf(process.pid, 'uploader.ts')!;
        process.kill(uploader, 'SIGSTOP');
        await until('the attempt has finished', () => bench.service.outcome !== undefined, 60_000);
        expect(bench.service.outcome).toEqual({ type: 'succeeded' });
        expect(bench.service.bodies('checkpoints').map(({ checkpoint }) => checkpoint.step)).toEqual([2, 4]);
        expect(isAlive(uploader)).toBe(false);
      } finally {
        await bench.stop();
      }
    });

    it('of the supervisor: trainer and uploader go with it, the next one cleans up', async () => {
      const dir = await tempDir('kill');
      const service = await new FakeService().start();
      const pidFile = join(dir.path, 'pids.json');
      const scratch = join(dir.path, 'scratch');
      const start = () =>
        spawn(process.execPath, [join(import.meta.dirname, 'support/supervisor-process.ts')], {
          stdio: 'inherit',
          env: {
            ...process.env,
            MILLRACE_URL: service.url,
            MILLRACE_RUNNER_TOKEN: 'token',
            MILLRACE_SCRATCH: scratch,
            STORE_URL: `file://${join(dir.path, 'store')}`,
            TEST_TRAINER: join(import.meta.dirname, 'support/scripted-trainer.ts'),
            SCRIPT_PIDS: pidFile,
            SCRIPT_MEGABYTES: '48',
            NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
          },
        });
      const first = start();
      try {
        service.claims.push(claim('train', { lease_ms: 30_000 }));
        await until('a large file arrives', () => arrivingBytes(join(dir.path, 'store')) > 1 << 20, 30_000);
        const [trainer] = JSON.parse(readFileSync(pidFile, 'utf8')) as number[];
        const uploader = childOf(first.pid!, 'uploader.ts')!;
        expect([trainer!, uploader].map(isAlive)).toEqual([true, true]);
        first.kill('SIGKILL');
        await until('both are gone', () => ![trainer!, uploader].some(isAlive));
        expect(service.bodies('finish')).toEqual([]);

        const left = readdirSync(scratch);
        expect(left).toHaveLength(1);
        service.claims.push(claim('train', { attempt: 2, lease_ms: 30_000 }));
        const second = start();
        await until('the second attempt has finished', () => service.outcome !== undefined, 60_000);
        expect(readdirSync(scratch)).not.toContain(left[0]);
        const successor = childOf(second.pid!, 'uploader.ts')!;
        expect(isAlive(successor)).toBe(true);
        second.kill('SIGKILL');
        await until('nothing is left', () => !isAlive(successor) && !isAlive(second.pid!));
      } finally {
        first.kill('SIGKILL');
        await service.stop();
        await dir.remove();
      }
    });
  },
);

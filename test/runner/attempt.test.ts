// An attempt that is over before it began: what it would have started afterwards nobody would end.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { Attempt } from '../../runner/supervisor/attempt.ts';
import type { AttemptCalls } from '../../runner/supervisor/calls.ts';
import { defaultTiming } from '../../runner/supervisor/settings.ts';
import { UploaderProcess } from '../../runner/supervisor/uploader-process.ts';
import { tempDir } from '../support/temp-dir.ts';
import { claim, datasetId } from './support/claims.ts';

const runnerFolder = resolve(import.meta.dirname, '../../runner');

it('whose runner is stopped at once fetches nothing and leaves no folder', async () => {
  await using dir = await tempDir('attempt');
  const env = { ...process.env, STORE_URL: pathToFileURL(join(dir.path, 'store')).href };
  const uploader = new UploaderProcess(join(runnerFolder, 'uploader.ts'), env, 30_000);
  const stopping = new AbortController();
  stopping.abort();
  const told: unknown[] = [];
  const calls: AttemptCalls = {
    heartbeat: () => Promise.resolve({ action: 'continue', lease_ms: 30_000 }),
    report: () => Promise.resolve(),
    commit: () => Promise.resolve(),
    stageEnd: () => Promise.resolve(null),
    finish: (outcome) => Promise.resolve(void told.push(outcome)),
  };
  const rows = {
    ...{ id: datasetId, kind: 'sft' as const, key: 'datasets/rows.jsonl' },
    ...{ size: 2, sha256: 'a'.repeat(64), proven_by: null },
  };
  const scratch = join(dir.path, 'scratch');
  await new Attempt({
    claim: claim('train', { datasets: [rows] }),
    calls,
    uploader,
    heartbeatMs: 1_000,
    heldSince: performance.now(),
    scratch,
    trainerEntry: join(runnerFolder, 'trainer.ts'),
    device: { provider: 'cpu', memoryGb: 1, name: 'cpu' },
    modelRoots: [],
    env,
    timing: defaultTiming,
    stopping: stopping.signal,
    hurry: new AbortController().signal,
    onLine: () => undefined,
  }).run();
  expect(told).toEqual([{ type: 'released' }]);
  expect(uploader.pid).toBeUndefined();
  expect(existsSync(scratch)).toBe(false);
  await uploader.close();
});

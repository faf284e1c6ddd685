// Pauses, as the supervisor carries them to a real trainer process: what was kept is committed first, and what overtakes a pause.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Paused } from '../../runner/cascade/point.ts';
import type { FromTrainer } from '../../runner/ipc.ts';
import { livelyClock } from '../../runner/trainer/process-host.ts';
import type { Bench } from './support/bench.ts';
import { startBench, until } from './support/bench.ts';
import { claim, datasetId } from './support/claims.ts';
import type { FakeService } from './support/fake-service.ts';
import { problem } from './support/fake-service.ts';
import { isAlive } from './support/processes.ts';

const finished = (service: FakeService): Promise<void> =>
  until('the attempt has finished', () => service.outcome !== undefined);
const steps = (service: FakeService): number[] =>
  service.entries.flatMap((entry) => (entry.type === 'step' ? [entry.step] : []));

describe('an attempt that is to pause', () => {
  let bench: Bench;
  afterEach(async () => {
    await bench.stop();
    expect(bench.service.violations).toEqual([]);
  });

  it('what the trainer keeps is committed before it finishes as paused', async () => {
    bench = await startBench();
    const { service } = bench;
    service.claims.push(claim('pausing'));
    await until('it has begun', () => steps(service).length === 1);
    service.action = 'pause';
    await finished(service);
    expect(service.outcome).toEqual({ type: 'paused' });
    expect(service.bodies('checkpoints').map(({ checkpoint }) => checkpoint.step)).toEqual([1]);
    expect(bench.pids().filter(isAlive)).toEqual([]);
  });

  it('while inputs are fetched: nothing was learnt, it finishes as paused at once', async () => {
    bench = await startBench((given) => void (given.action = 'pause'));
    bench.env['MILLRACE_STORE_RETRY_MS'] = '60000';
    const missing = {
      ...{ id: datasetId, kind: 'sft' as const, key: 'datasets/x/rows.jsonl', size: 1 << 30 },
      ...{ sha256: '0'.repeat(64), proven_by: null },
    };
    mkdirSync(join(bench.storeDir, 'datasets/x'), { recursive: true });
    // Reading from it blocks for as long as nobody writes.
    execFileSync('mkfifo', [join(bench.storeDir, missing.key)]);
    bench.service.claims.push(claim('train', { datasets: [missing] }));
    await finished(bench.service);
    expect(bench.service.outcome).toEqual({ type: 'paused' });
    expect(steps(bench.service)).toEqual([]);
  });

  it('is cancelled where a cancel overtakes the pause whose snapshot is on its way', async () => {
    bench = await startBench();
    const { service } = bench;
    bench.env['SCRIPT_MEGABYTES'] = '48';
    service.claims.push(claim('pausing'));
    service.instead = (route) => (route === 'checkpoints' ? problem(503, 'database_unavailable') : undefined);
    await until('it has begun', () => steps(service).length === 1);
    service.action = 'pause';
    await until('the snapshot is stored', () => service.bodies('checkpoints').length > 0);
    service.action = 'cancel';
    const [trainer] = bench.pids();
    await until('the trainer is gone', () => !isAlive(trainer!));
    service.instead = () => undefined;
    await finished(service);
    expect(service.outcome).toEqual({ type: 'cancelled' });
  });
});

it('a trainer that waits for rewards pauses within a second, and gives signs of life until then', async () => {
  const said: FromTrainer[] = [];
  const clock = livelyClock({
    send: (message) => void said.push(message),
    pauseAsked: () => said.length > 0,
  });
  const began = clock.now();
  await expect(clock.wait(60_000)).rejects.toBeInstanceOf(Paused);
  expect(clock.now() - began).toBeLessThan(5_000);
  expect(said).toEqual([{ type: 'alive' }]);
});

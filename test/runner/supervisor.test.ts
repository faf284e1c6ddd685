// The supervisor's behaviours with real trainer and uploader processes: what it reports, and how attempts end.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Claim } from '../../api/contract/runner.ts';
import { openCheckpoint } from '../../runner/checkpoint/read.ts';
import type { Bench } from './support/bench.ts';
import { startBench, until } from './support/bench.ts';
import { claim, datasetId, jobId, spec } from './support/claims.ts';
import { problem } from './support/fake-service.ts';
import type { FakeService } from './support/fake-service.ts';
import { isAlive } from './support/processes.ts';

let bench: Bench;
afterEach(async () => {
  await bench.stop();
  expect(bench.service.violations).toEqual([]);
});

async function withClaim(
  given: Claim,
  prepare: (service: FakeService) => void = () => undefined,
): Promise<FakeService> {
  bench = await startBench((service) => {
    service.claims.push(given);
    prepare(service);
  });
  return bench.service;
}

const finished = (service: FakeService): Promise<void> =>
  until('the attempt has finished', () => service.outcome !== undefined);
const steps = (service: FakeService): number[] =>
  service.entries.flatMap((entry) => (entry.type === 'step' ? [entry.step] : []));

describe('an undisturbed attempt', () => {
  it('reports in order, stores and commits its checkpoints, finishes last', async () => {
    const service = await withClaim(claim('train'));
    await finished(service);
    expect(service.outcome).toEqual({ type: 'succeeded' });
    expect(service.bodies('heartbeat').at(-1)!.progress).toMatchObject({ step: 4 });
    expect(steps(service)).toEqual([1, 2, 3, 4]);
    expect(service.bodies('report').map(({ sequence }) => sequence)).toEqual(
      service.bodies('report').map((_, at) => at + 1),
    );
    expect(service.received.findLast(({ route }) => route !== 'heartbeat' && route !== 'claim')!.route).toBe(
      'finish',
    );
    const commits = service.bodies('checkpoints').map(({ checkpoint }) => checkpoint);
    expect(commits.map(({ prefix, kind }) => [prefix, kind])).toEqual([
      [`jobs/${jobId}/a1/0-sft/step-000002/`, 'step'],
      [`jobs/${jobId}/a1/0-sft/step-000004/`, 'final'],
    ]);
    for (const { prefix, manifest_sha256 } of commits) {
      const stored = await openCheckpoint(join(bench.storeDir, prefix));
      expect(await stored.state()).toEqual({ step: stored.manifest.step });
      const text = readFileSync(join(bench.storeDir, prefix, 'manifest.json'));
      expect(createHash('sha256').update(text).digest('hex')).toBe(manifest_sha256);
    }
  });

  it('commits a checkpoint only after the reports before it', async () => {
    const service = await withClaim(claim('train'));
    await finished(service);
    const order = service.received.map(({ route, body }) => ({ route, body }));
    const commit = order.findIndex(({ route }) => route === 'checkpoints');
    const before = order
      .slice(0, commit)
      .flatMap(({ route, body }) =>
        route === 'report' ? (body as { entries: { type: string; step?: number }[] }).entries : [],
      );
    expect(before.filter(({ type }) => type === 'step').map(({ step }) => step)).toEqual(
      expect.arrayContaining([1, 2]),
    );
  });

  it('reports samples once their shard lies in the store', async () => {
    const service = await withClaim(claim('train'));
    await finished(service);
    const keys = service.entries.flatMap((entry) => (entry.type === 'samples' ? [entry.key] : []));
    expect(keys).toEqual([1, 2, 3, 4].map((step) => `jobs/${jobId}/a1/samples/0-sft-${step}.jsonl`));
    expect(readFileSync(join(bench.storeDir, keys[2]!), 'utf8')).toBe('{"step":3}\n');
  });

  it('sends progress with its heartbeats and the output as the log, and leaves nothing in scratch', async () => {
    const service = await withClaim(claim('alive'));
    await until('progress is told', () =>
      service.bodies('heartbeat').some(({ progress }) => progress?.step === 1),
    );
    service.action = 'cancel';
    await finished(service);
    service.claims.push(claim('train', { attempt: 2 }));
    service.action = 'continue';
    service.outcome = undefined;
    await finished(service);
    // Snapshots are gone from scratch when the trainer is told that they are committed.
    expect(service.log).toContain('scratch holds []\n');
    await until(
      'scratch is empty',
      () => readdirSync(bench.scratch).flatMap((own) => readdirSync(join(bench.scratch, own))).length === 0,
    );
  });

  it('fetches its datasets first', async () => {
    const text = '{"messages":[]}\n';
    const sha256 = createHash('sha256').update(text).digest('hex');
    const dataset = {
      id: datasetId,
      kind: 'sft' as const,
      key: 'datasets/x/rows.jsonl',
      size: text.length,
      sha256,
      proven_by: null,
    };
    bench = await startBench();
    mkdirSync(join(bench.storeDir, 'datasets/x'), { recursive: true });
    writeFileSync(join(bench.storeDir, dataset.key), text);
    bench.service.claims.push(claim('train', { datasets: [dataset] }));
    await finished(bench.service);
    expect(bench.service.outcome).toEqual({ type: 'succeeded' });
    expect(bench.service.log).toMatch(
      new RegExp(`inputs \\{"datasets":\\{"${datasetId}":"/.*${datasetId}\\.jsonl"\\}\\}`),
    );
  });

  it('says much in few reports of bounded size, and keeps the end of a long log', async () => {
    const service = await withClaim(claim('chatty'));
    await finished(service);
    expect(steps(service)).toEqual(Array.from({ length: 5_000 }, (_, at) => at + 1));
    expect(
      service.bodies('report').every(({ entries, log }) => entries.length <= 1_000 && log.length <= 262_144),
    ).toBe(true);
    expect(service.log).toMatch(/last line\n$/);
  });
});

describe('attempts that fail', () => {
  it.each([
    ['diverge', 'diverged', /^the norm is not finite\uFFFD$/],
    ['crash', 'trainer_crashed', /exit code 7\)[^]*about to fail\nsegment 11/],
    ['heap', 'out_of_memory', /signal SIGABRT[^]*heap out of memory/],
  ])('%s: %s', async (name, reason, message) => {
    const service = await withClaim(claim(name));
    await finished(service);
    expect(service.outcome).toMatchObject({
      type: 'failed',
      reason,
      message: expect.stringMatching(message),
    });
  });

  it('a trainer killed from outside has crashed; what it said before is reported', async () => {
    const service = await withClaim(claim('busy'));
    await until('it has begun', () => steps(service).length === 1);
    process.kill(bench.pids()[0]!, 'SIGKILL');
    await finished(service);
    expect(service.outcome).toMatchObject({
      reason: 'trainer_crashed',
      message: expect.stringContaining('signal SIGKILL'),
    });
  });

  it('a trainer without a sign of life is stalled, killed, its heartbeats never missed', async () => {
    const service = await withClaim(claim('stall', { spec: spec('stall', { stall_timeout: '1s' }) }));
    await finished(service);
    expect(service.outcome).toMatchObject({
      reason: 'stalled',
      message: expect.stringContaining('for 1s (stall_timeout)'),
    });
    expect(service.bodies('heartbeat').length).toBeGreaterThan(5);
  });

  it('a trainer that is alive is not stalled', async () => {
    const service = await withClaim(claim('alive', { spec: spec('alive', { stall_timeout: '3s' }) }));
    await until('it has lived through the limit', () => service.bodies('heartbeat').length > 80);
    expect(service.outcome).toBeUndefined();
  });

  it('a trainer that does not leave after its outcome is ended, the outcome stands', async () => {
    const service = await withClaim(claim('lingering'));
    await finished(service);
    expect(service.outcome).toEqual({ type: 'succeeded' });
  });

  it('a dataset that is not in the store', async () => {
    const dataset = {
      id: datasetId,
      kind: 'sft' as const,
      key: 'datasets/none.jsonl',
      size: 1,
      sha256: '0'.repeat(64),
      proven_by: null,
    };
    const service = await withClaim(claim('train', { datasets: [dataset] }));
    await finished(service);
    expect(service.outcome).toMatchObject({
      reason: 'invalid_data',
      message: expect.stringContaining('datasets/none.jsonl'),
    });
  });

  it('a model URI of no known kind', async () => {
    const model = { init: { from: 'hf' as const, uri: 'ftp://x/y' }, tuning: { method: 'full' as const } };
    const service = await withClaim(claim('train', { spec: spec('train', { model }) }));
    await finished(service);
    expect(service.outcome).toMatchObject({
      reason: 'invalid_model',
      message: expect.stringContaining('ftp://x/y'),
    });
  });

  it('a snapshot that cannot be read', async () => {
    const service = await withClaim(claim('damaged'));
    await finished(service);
    expect(service.outcome).toMatchObject({
      reason: 'trainer_crashed',
      message: expect.stringContaining('manifest.json'),
    });
  });
});

describe('attempts that are ended', () => {
  it.each([500, 1_000, 7_777, 30_000])(
    'heartbeats are answered whatever the lease (%d ms)',
    async (leaseMs) => {
      const service = await withClaim(
        claim('alive', { lease_ms: leaseMs }),
        (given) => (given.leaseMs = leaseMs),
      );
      await until('two heartbeats came', () => service.bodies('heartbeat').length >= 2);
    },
  );

  it('cancel: finished as cancelled, no process left, within 10 s', async () => {
    const service = await withClaim(claim('stubborn'));
    await until('it has begun', () => steps(service).length === 1);
    const pids = bench.pids();
    expect(pids).toHaveLength(2);
    expect(pids.every(isAlive)).toBe(true);
    const start = performance.now();
    service.action = 'cancel';
    await finished(service);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(service.outcome).toEqual({ type: 'cancelled' });
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('lease lost: the trainer is killed, nothing more is said, the next job is claimed', async () => {
    const service = await withClaim(claim('stubborn'));
    await until('it has begun', () => steps(service).length === 1);
    const pids = bench.pids();
    service.instead = (route) => (route === 'heartbeat' ? problem(409, 'lease_lost') : undefined);
    await until('the trainer is gone', () => !pids.some(isAlive));
    service.instead = () => undefined;
    const claims = service.bodies('claim').length;
    await until('it claims again', () => service.bodies('claim').length > claims);
    expect(service.bodies('finish')).toEqual([]);
  });

  it('lease lost by a report: the same', async () => {
    const service = await withClaim(claim('stubborn'), (given) => {
      given.instead = (route) => (route === 'report' ? problem(409, 'lease_lost') : undefined);
    });
    await until('a report was refused', () => service.bodies('report').length === 1);
    const pids = bench.pids();
    await until('the trainer is gone', () => !pids.some(isAlive));
    const claims = service.bodies('claim').length;
    await until('it claims again', () => service.bodies('claim').length > claims);
    expect(service.bodies('report')).toHaveLength(1);
    expect(service.bodies('finish')).toEqual([]);
  });

  it('the lease passes on the runner’s own clock: the trainer is killed while the service is away', async () => {
    const service = await withClaim(claim('stubborn', { lease_ms: 700 }), (given) => (given.leaseMs = 700));
    await until('it has begun', () => steps(service).length === 1);
    const pids = bench.pids();
    await service.stop();
    const start = performance.now();
    await until('the trainer is gone', () => !pids.some(isAlive));
    expect(performance.now() - start).toBeLessThan(3_000);
    await service.start();
    const claims = service.bodies('claim').length;
    await until('it claims again', () => service.bodies('claim').length > claims);
    expect(service.bodies('finish')).toEqual([]);
  });

  it('the runner is stopped: the attempt is given back, no process left', async () => {
    const service = await withClaim(claim('stubborn'));
    await until('it has begun', () => steps(service).length === 1);
    const pids = bench.pids();
    const { scratch } = bench;
    await bench.stop();
    expect(service.outcome).toMatchObject({ type: 'failed', reason: 'runner_stopped' });
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(scratch) ? readdirSync(scratch) : []).toEqual([]);
  });

  it('a refused report ends the attempt, and the service learns why', async () => {
    const service = await withClaim(claim('alive'), (given) => {
      given.instead = (route, body) =>
        route === 'report' && (body as { sequence: number }).sequence === 1
          ? problem(422, 'invalid_spec')
          : undefined;
    });
    await finished(service);
    expect(service.outcome).toMatchObject({
      reason: 'trainer_crashed',
      message: expect.stringContaining('invalid_spec'),
    });
  });
});

describe('a service that comes and goes', () => {
  it('is waited for within the lease: reports are repeated as they were and applied once', async () => {
    const service = await withClaim(claim('train', { lease_ms: 30_000 }), (given) => {
      given.leaseMs = 30_000;
      let failures = 4;
      given.instead = (route) =>
        ['report', 'checkpoints', 'finish'].includes(route) && failures-- > 0
          ? problem(503, 'database_unavailable')
          : undefined;
    });
    await finished(service);
    expect(service.outcome).toEqual({ type: 'succeeded' });
    expect(steps(service)).toEqual([1, 2, 3, 4]);
    const bySequence = Map.groupBy(service.bodies('report'), ({ sequence }) => sequence);
    expect(bySequence.get(1)!.length).toBeGreaterThan(1);
    for (const sent of bySequence.values()) for (const again of sent) expect(again).toEqual(sent[0]);
  });

  it('may lose an answer: what was applied but not acknowledged counts once', async () => {
    const lost = new Set<string>();
    const service = await withClaim(claim('train', { lease_ms: 30_000 }), (given) => {
      given.leaseMs = 30_000;
      given.loseAnswer = (route) =>
        ['report', 'checkpoints', 'finish'].includes(route) && lost.size < lost.add(route).size;
    });
    await until('the finish was repeated', () => service.bodies('finish').length === 2);
    expect([...lost].sort()).toEqual(['checkpoints', 'finish', 'report']);
    expect(service.outcome).toEqual({ type: 'succeeded' });
    expect(steps(service)).toEqual([1, 2, 3, 4]);
  });

  it('may be restarted in the middle', async () => {
    const service = await withClaim(
      claim('train', { lease_ms: 30_000 }),
      (given) => (given.leaseMs = 30_000),
    );
    await until('the first report came', () => service.bodies('report').length > 0);
    await service.stop();
    await service.start();
    await finished(service);
    expect(service.outcome).toEqual({ type: 'succeeded' });
    expect(steps(service)).toEqual([1, 2, 3, 4]);
  });

  it('need not be there at the start', async () => {
    bench = await startBench();
    await bench.service.stop();
    const registered = bench.service.bodies('register').length;
    bench.service.instead = (route) => (route === 'claim' ? problem(404, 'not_found') : undefined);
    await bench.service.start();
    await until(
      'it registers again when it is not known',
      () => bench.service.bodies('register').length > registered,
    );
  });

  it.each([
    [426, 'protocol_mismatch'],
    [401, 'unauthorized'],
  ])('that refuses the runner (%d %s) ends it with a clear message', async (status, code) => {
    bench = await startBench((service) => (service.instead = () => problem(status, code)));
    await expect(bench.ended).rejects.toMatchObject({
      name: 'RunnerRefused',
      message: expect.stringContaining(code),
    });
  });
});

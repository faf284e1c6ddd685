// Ends of own stages, brought back for a stage that learns from them: a scripted trainer asks, a real uploader fetches, and whatever is
// away or lost meanwhile ends the attempt as what it is.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Bench } from './support/bench.ts';
import { startBench, until } from './support/bench.ts';
import { claim, spec } from './support/claims.ts';
import { problem } from './support/fake-service.ts';
import type { FakeService } from './support/fake-service.ts';
import { isAlive } from './support/processes.ts';

let bench: Bench;
afterEach(async () => {
  await bench.stop();
  expect(bench.service.violations).toEqual([]);
});

async function started(
  script: string,
  prepare: (service: FakeService) => void = () => undefined,
): Promise<FakeService> {
  bench = await startBench((service) => {
    service.leaseMs = 30_000;
    service.claims.push(claim(script, { lease_ms: 30_000 }));
    prepare(service);
  });
  return bench.service;
}

const finished = (service: FakeService): Promise<void> =>
  until('the attempt has finished', () => service.outcome !== undefined);

/** Before the end of a stage is fetched. */
const onQuestion = (service: FakeService, act: () => void): void => {
  service.instead = (route) => {
    if (route === 'stage-ends') act();
    return undefined;
  };
};

it('come without what only training goes on from', async () => {
  const service = await started('learning');
  await finished(service);
  expect(service.outcome).toEqual({ type: 'succeeded' });
  expect(service.bodies('stage-ends')).toMatchObject([{ stage_index: 0, attempt: 1 }]);
  expect(service.log).toContain(
    'answered {"type":"stage_end","stageIndex":0,"files":["config.json","model.safetensors"]}',
  );
});

it('that were never committed are told as missing', async () => {
  const service = await started('orphaned');
  await finished(service);
  expect(service.log).toContain('"message":"no end of stage sft has been committed","files":[]');
});

it('are asked for again while the service is away', async () => {
  let failures = 3;
  const service = await started('learning', (given) => {
    given.instead = (route) =>
      route === 'stage-ends' && failures-- > 0 ? problem(503, 'database_unavailable') : undefined;
  });
  await finished(service);
  expect(service.outcome).toEqual({ type: 'succeeded' });
  expect(service.bodies('stage-ends').length).toBeGreaterThan(1);
});

it.each([
  ['gone', (dir: string) => rmSync(join(dir, 'model.safetensors'))],
  ['changed', (dir: string) => writeFileSync(join(dir, 'model.safetensors'), 'no weights')],
])('whose files are %s in the store end the attempt, by the name of the stage', async (_, spoil) => {
  const service = await started('learning', (given) =>
    onQuestion(given, () => spoil(join(bench.storeDir, given.stageEnd!.prefix))),
  );
  await finished(service);
  expect(service.outcome).toMatchObject({
    type: 'failed',
    reason: 'store_unavailable',
    message: expect.stringMatching(
      /^the end of stage sft, which a later stage learns from: .*model\.safetensors/,
    ) as unknown,
  });
});

it('a service that refuses the question is told of', async () => {
  const service = await started('orphaned', (given) => {
    given.instead = (route) => (route === 'stage-ends' ? problem(422, 'invalid_spec') : undefined);
  });
  await finished(service);
  expect(service.outcome).toMatchObject({
    reason: 'trainer_crashed',
    message: expect.stringContaining('the end of stage sft') as unknown,
  });
});

it('an attempt that has lost its job is dropped', async () => {
  const service = await started('orphaned', (given) => {
    given.instead = (route) => (route === 'stage-ends' ? problem(409, 'lease_lost') : undefined);
  });
  await until(
    'the trainer is gone',
    () => service.bodies('stage-ends').length > 0 && !bench.pids().some(isAlive),
  );
  await until('it claims again', () => service.bodies('claim').length > 1);
  expect(service.bodies('finish')).toEqual([]);
});

it('a cancel does not wait for what is being fetched', async () => {
  const service = await started('orphaned', (given) => {
    given.instead = (route) => (route === 'stage-ends' ? problem(503, 'database_unavailable') : undefined);
  });
  await until('it has asked', () => service.bodies('stage-ends').length > 0);
  service.action = 'cancel';
  await finished(service);
  expect(service.outcome).toEqual({ type: 'cancelled' });
  await until(
    'scratch is empty',
    () => readdirSync(bench.scratch).flatMap((own) => readdirSync(join(bench.scratch, own))).length === 0,
  );
});

it('a trainer that waits for one is not stalled', async () => {
  const service = await started('orphaned', (given) => {
    given.claims[0] = claim('orphaned', {
      lease_ms: 30_000,
      spec: spec('orphaned', { stall_timeout: '1s' }),
    });
    given.instead = (route) => (route === 'stage-ends' ? problem(503, 'database_unavailable') : undefined);
  });
  await until('it has waited longer than the limit', () => service.bodies('heartbeat').length > 40);
  expect(service.outcome).toBeUndefined();
  service.instead = () => undefined;
  await finished(service);
  expect(service.outcome).toEqual({ type: 'succeeded' });
});

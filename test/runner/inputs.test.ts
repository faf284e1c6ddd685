// Where a model comes from: a folder here, or the store; what is neither is the spec's fault, by name.
import { expect, test } from 'vitest';
import type { Claim } from '../../api/contract/runner.ts';
import { planInputs } from '../../runner/supervisor/inputs.ts';
import { transferOutcome } from '../../runner/supervisor/transfer-outcome.ts';

const claimOf = (uri: string): Claim =>
  ({
    spec: { model: { init: { from: 'hf', uri } } },
    datasets: [],
    init: null,
    resume: null,
  }) as unknown as Claim;

test.each([
  ['/models/a', '/models/a', 0],
  ['file:///models/a%20b', '/models/a b', 0],
  ['s3://bucket/a', '/scratch/init', 1],
])('%s lies at %s', (uri, init, transfers) => {
  const plan = planInputs(claimOf(uri), '/scratch');
  expect([plan.inputs.init, plan.transfers.length]).toEqual([init, transfers]);
});

test.each(['file://host/models/a', 'file:///a%2Fb', 'models/a', 'https://example.com/a'])(
  '%s is an invalid model, not a crash that is tried again',
  (uri) => {
    const outcome = (): unknown => {
      try {
        return planInputs(claimOf(uri), '/scratch');
      } catch (error) {
        return transferOutcome(error);
      }
    };
    expect(outcome()).toMatchObject({
      type: 'failed',
      reason: 'invalid_model',
      message: expect.stringContaining(uri) as unknown,
    });
  },
);

test.each([
  ['full', undefined, ['fetch_checkpoint']],
  ['lora', '/models/a', ['fetch_checkpoint']],
] as const)('resuming, %s tuning: the base lies at %s', (method, init, transfers) => {
  const claim = {
    spec: { model: { init: { from: 'hf', uri: '/models/a' }, tuning: { method } } },
    datasets: [],
    init: null,
    resume: { id: 'ckpt' },
  } as unknown as Claim;
  const plan = planInputs(claim, '/scratch');
  expect(plan.inputs).toMatchObject({ resume: '/scratch/resume' });
  expect(plan.inputs.init).toBe(init);
  expect(plan.transfers.map(({ kind }) => kind)).toEqual(transfers);
});

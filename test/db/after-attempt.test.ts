// The decision after an attempt, as a table.
import { expect, test } from 'vitest';
import type { Outcome } from '../../api/contract/runner.ts';
import { afterAttempt, retryDelay, type Held } from '../../db/queue/after-attempt.ts';

const held: Held = {
  state: 'running',
  attempt: 4,
  failuresWithoutCheckpoint: 0,
  maxAttempts: 3,
  committed: false,
  otherwise: 'pause',
};
const outage: Outcome = { type: 'failed', reason: 'reward_unavailable', message: 'm' };
const crash: Outcome = { type: 'failed', reason: 'trainer_crashed', message: 'm' };
const bad: Outcome = { type: 'failed', reason: 'invalid_model', message: 'm' };
const done: Outcome = { type: 'succeeded' };

test.each<[string, Partial<Held>, Outcome, object]>([
  ['success', {}, done, { state: 'succeeded', reason: null }],
  ['success while pausing', { state: 'pausing' }, done, { state: 'succeeded' }],
  ['success while cancelling', { state: 'cancelling' }, done, { state: 'cancelled' }],
  ['permanent failure', {}, bad, { state: 'failed', reason: 'invalid_model', message: 'm' }],
  ['permanent failure while cancelling', { state: 'cancelling' }, bad, { state: 'cancelled', reason: null }],
  [
    'rewards out of reach',
    { failuresWithoutCheckpoint: 2 },
    outage,
    { state: 'paused', reason: 'reward_unavailable', message: 'm', failuresWithoutCheckpoint: 0 },
  ],
  [
    'rewards out of reach, and the spec would rather fail',
    { otherwise: 'fail' },
    outage,
    { state: 'failed' },
  ],
  ['rewards out of reach while cancelling', { state: 'cancelling' }, outage, { state: 'cancelled' }],
  [
    'first failure',
    {},
    crash,
    { state: 'queued', failuresWithoutCheckpoint: 1, delayMs: retryDelay.firstMs },
  ],
  [
    'second failure',
    { failuresWithoutCheckpoint: 1 },
    crash,
    { state: 'queued', failuresWithoutCheckpoint: 2, delayMs: 2 * retryDelay.firstMs },
  ],
  [
    'last failure',
    { failuresWithoutCheckpoint: 2 },
    crash,
    { state: 'failed', reason: 'trainer_crashed', failuresWithoutCheckpoint: 3 },
  ],
  [
    'failure after a checkpoint',
    { failuresWithoutCheckpoint: 2, committed: true },
    crash,
    { state: 'queued', failuresWithoutCheckpoint: 0, delayMs: retryDelay.firstMs },
  ],
  ['one attempt allowed, with a checkpoint', { maxAttempts: 1, committed: true }, crash, { state: 'queued' }],
  ['one attempt allowed, without', { maxAttempts: 1 }, crash, { state: 'failed' }],
  [
    'the hundredth failure waits no longer than the cap',
    { maxAttempts: 100, failuresWithoutCheckpoint: 98 },
    crash,
    { state: 'queued', delayMs: retryDelay.capMs },
  ],
  ['failure while pausing', { state: 'pausing' }, crash, { state: 'paused', reason: 'trainer_crashed' }],
  [
    'paused as asked, no failure counted',
    { state: 'pausing', failuresWithoutCheckpoint: 2 },
    { type: 'paused' },
    { state: 'paused', reason: null, failuresWithoutCheckpoint: 2 },
  ],
  ['paused while cancelling', { state: 'cancelling' }, { type: 'paused' }, { state: 'cancelled' }],
  [
    'released: back in the queue, no failure counted',
    { failuresWithoutCheckpoint: 2 },
    { type: 'released' },
    { state: 'queued', reason: null, failuresWithoutCheckpoint: 2, delayMs: 0 },
  ],
  [
    'released with a checkpoint',
    { failuresWithoutCheckpoint: 2, committed: true },
    { type: 'released' },
    { state: 'queued', failuresWithoutCheckpoint: 0 },
  ],
  ['released while pausing', { state: 'pausing' }, { type: 'released' }, { state: 'paused', reason: null }],
  ['released while cancelling', { state: 'cancelling' }, { type: 'released' }, { state: 'cancelled' }],
  ['paused unasked', {}, { type: 'paused' }, { state: 'queued', reason: 'runner_stopped' }],
  ['cancelled unasked', {}, { type: 'cancelled' }, { state: 'queued', reason: 'runner_stopped' }],
])('%s', (_what, change, outcome, expected) => {
  expect(afterAttempt({ ...held, ...change }, outcome)).toMatchObject(expected);
});

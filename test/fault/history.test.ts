// The checks of a fault run see each breach: a whole history passes, and one that was spoiled in one place does not.
import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../api/contract/event.ts';
import type { History, HistoryEvent } from './promises/history.ts';
import { breachesOf } from './promises/history.ts';
import { planFaults } from './schedule.ts';

const state = (from: string | null, to: string) => ({ type: 'state', from, to }) as EventBody;
const started = { type: 'attempt_started', runner: 'run_1', resumed_from: null } as EventBody;
const failed = { type: 'attempt_failed', reason: 'lease_expired', message: '', retry_at: null } as EventBody;
const step = { type: 'stage_started', stage: 'sft', stage_index: 0, steps: 1 } as EventBody;

/** Lost once, then done. */
const bodies: readonly (readonly [number, EventBody])[] = [
  [0, state(null, 'queued')],
  [1, state('queued', 'running')],
  [1, started],
  [1, step],
  [1, failed],
  [1, state('running', 'queued')],
  [2, state('queued', 'running')],
  [2, started],
  [2, step],
  [2, state('running', 'succeeded')],
];

function history(given = bodies, changes: Partial<History> = {}): History {
  const events: HistoryEvent[] = given.map(([attempt, body], at) => ({ seq: at + 1, attempt, body }));
  return {
    id: 'job',
    state: 'succeeded',
    eventSeq: events.length,
    attempt: 2,
    events,
    attempts: [
      { attempt: 1, outcome: 'failed' },
      { attempt: 2, outcome: 'succeeded' },
    ],
    ...changes,
  };
}

const spoiled = (at: number, ...put: (readonly [number, EventBody])[]): History =>
  history(bodies.toSpliced(at, 1, ...put));

describe('a history', () => {
  it('that is whole breaks nothing', () => expect(breachesOf(history())).toEqual([]));

  it.each<[string, History, RegExp]>([
    ['a gap', { ...history(), events: history().events.toSpliced(3, 1) }, /event 4 is missing or double/],
    [
      'events that the job does not count',
      history(bodies, { eventSeq: 11 }),
      /10 events, and the job says 11/,
    ],
    ['a word after the lease', spoiled(5, [1, step], bodies[5]!), /attempt 1 holds the job no more/],
    ['a word of an attempt gone by', spoiled(8, [1, step]), /of attempt 1, after one of attempt 2/],
    ['an attempt on top of another', spoiled(4, [2, started]), /attempt 1 has not ended/],
    [
      'a move that is none',
      spoiled(5, [1, state('running', 'paused')], [1, state('paused', 'succeeded')]),
      /no move/,
    ],
    ['a second end', spoiled(9, bodies[9]!, [2, state('succeeded', 'failed')]), /2 terminal events/],
    ['something after the end', spoiled(9, bodies[9]!, [2, step]), /events follow its end/],
    ['another end than the row has', history(bodies, { state: 'failed' }), /last event says succeeded/],
    ['an end of a job that goes on', history(bodies, { state: 'queued' }), /has ended, and is queued/],
    [
      'two attempts that succeeded',
      history(bodies, { attempts: [1, 2].map((attempt) => ({ attempt, outcome: 'succeeded' })) }),
      /attempts 1,2 all succeeded/,
    ],
    [
      'an attempt without an end',
      history(bodies, { attempts: [1, 2].map((attempt) => ({ attempt, outcome: null })) }),
      /with 2 attempts that have no end/,
    ],
    [
      'an attempt that is gone',
      history(bodies, { attempts: [{ attempt: 2, outcome: 'succeeded' }] }),
      /attempts 2, /,
    ],
  ])('with %s breaks a promise', (_, given, breach) => {
    expect(breachesOf(given).join('\n')).toMatch(breach);
  });
});

describe('a schedule', () => {
  const site = { apis: 2, runners: 3, storeProxied: true };

  it('is the same for the same seed, and another for another', () => {
    expect(planFaults(7, 60, 20, site)).toEqual(planFaults(7, 60, 20, site));
    expect(planFaults(7, 60, 20, site)).not.toEqual(planFaults(8, 60, 20, site));
  });

  it('has every kind in each round, and none of the store where nothing stands before it', () => {
    const kinds = new Set(planFaults(1, 28, 20, site).map(({ kind }) => kind));
    expect(kinds.size).toBe(12);
    const without = planFaults(1, 60, 20, { ...site, storeProxied: false });
    expect(without.some(({ kind }) => /store|uploads|downloads/.test(kind))).toBe(false);
  });
});

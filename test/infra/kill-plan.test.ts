// The plan of a fault run, and the fold by which its histories are compared: that either can tell right from wrong.
import { describe, expect, it } from 'vitest';
import type { EventBody, JobEvent } from '../../api/contract/event.ts';
import { planBlows, victims } from '../fault/plan.ts';
import { stepsOf } from '../support/run-record.ts';

describe('the plan of kills', () => {
  const stages = ['sft', 'rlhf', 'math'].map((name) => ({ name, steps: 20 }));

  it('has a share for every stage, a turn for every process, and an evaluation in each; the same for the same seed', () => {
    const blows = planBlows(stages, 31, 1);
    expect(blows).toHaveLength(31);
    for (const { name } of stages) {
      const own = blows.filter(({ stage }) => stage === name);
      expect(own.length).toBeGreaterThanOrEqual(10);
      expect(new Set(own.map(({ victim }) => victim))).toEqual(new Set(victims));
      expect(own.filter(({ moment }) => moment === 'evaluation')).toMatchObject([{ afterStep: 20 }]);
      const steps = own.map(({ afterStep }) => afterStep);
      expect(steps).toEqual(steps.toSorted((a, b) => a - b));
      expect(own.every(({ delay }) => delay > 0 && delay < 1)).toBe(true);
    }
    expect(planBlows(stages, 31, 1)).toEqual(blows);
    expect(planBlows(stages, 31, 2)).not.toEqual(blows);
  });
});

describe('the steps of a history', () => {
  const step = (number: number, loss: number): EventBody => ({
    ...{ type: 'step', stage: 'sft', phase: 0, step: number, mode: 'non_thinking' },
    metrics: { loss, time_train: Math.random() },
  });
  const rewound = (to_step: number): EventBody => ({ type: 'rewound', stage: 'sft', to_step });
  const history = (...bodies: EventBody[]): JobEvent[] =>
    bodies.map((body, at) => ({ seq: at + 1, attempt: 1, created_at: '2020-01-01T00:00:00.000Z', body }));
  const undisturbed = stepsOf(history(step(1, 3), step(2, 2), step(3, 1)));

  it('are those of the latest attempts, without their times', () => {
    const killed = history(step(1, 3), step(2, 2), rewound(1), step(2, 2), step(3, 1));
    expect(stepsOf(killed)).toEqual(undisturbed);
    expect(stepsOf(history(step(1, 9), rewound(0), step(1, 3), step(2, 2), step(3, 1)))).toEqual(undisturbed);
  });

  it.each([
    ['a gap', history(step(1, 3), step(3, 1))],
    ['a step twice', history(step(1, 3), step(2, 2), step(2, 2), step(3, 1))],
    ['another value', history(step(1, 3), step(2, 2), rewound(1), step(2, 2.5), step(3, 1))],
    ['a checkpoint of a step that was never told', history(step(1, 3), rewound(2), step(3, 1))],
  ])('differ by %s', (_, events) => {
    expect(stepsOf(events)).not.toEqual(undisturbed);
  });
});

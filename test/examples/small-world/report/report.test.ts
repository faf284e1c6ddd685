// The report from what a job has said: repeated steps count once, the matrix finds each stage's own domain, pictures are well formed.
import { describe, expect, it } from 'vitest';
import type { EventBody, JobEvent } from '../../../../api/contract/event.ts';
import { gainsOf, matrixOf, matrixTable } from '../../../../examples/small-world/report/matrix.ts';
import { movingMean, scaleOf } from '../../../../examples/small-world/report/panels.ts';
import { recordOf } from '../../../../examples/small-world/report/record.ts';
import { label } from '../../../../examples/small-world/report/svg.ts';
import { picturesOf } from '../../../../examples/small-world/report/write.ts';
import { tinySpec } from '../../../support/tiny-policy.ts';

const event = (body: EventBody, at: number): JobEvent => ({
  ...{ seq: at + 1, attempt: 1, created_at: new Date(at * 1000).toISOString() },
  body,
});
const step = (stage: string, at: number, metrics: Record<string, number>): EventBody => ({
  ...{ type: 'step', stage, phase: 0, step: at, mode: 'non_thinking' },
  metrics,
});
const evaluation = (after: string, value: number): EventBody => ({
  ...{ type: 'evaluation', after },
  cells: [
    {
      ...{ suite: 'sums', domain: 'math', mode: 'non_thinking', metric: 'avg@2', tasks: 10 },
      ...{ value, low: value - 0.1, high: value + 0.1 },
    },
  ],
});

const bodies: EventBody[] = [
  evaluation('initial', 0),
  step('sft', 1, { loss: 2 }),
  evaluation('sft', 0.25),
  step('math', 1, { reward: 0.3, response_length: 5 }),
  step('math', 2, { reward: 0.9, response_length: 9 }),
  { ...evaluation('math', 0.1), step: 1 } as EventBody,
  step('math', 2, { reward: 0.5, response_length: 6 }),
  evaluation('math', 0.75),
];
const record = recordOf(tinySpec(), bodies.map(event));

describe('a report', () => {
  it('counts a step that was done again once, as done last', () => {
    expect(record.stages.map(({ name, reinforced }) => [name, reinforced])).toEqual([
      ['sft', false],
      ['math', true],
    ]);
    expect(record.stages[1]!.steps).toEqual([
      { step: 1, reward: 0.3, loss: null, length: 5 },
      { step: 2, reward: 0.5, loss: null, length: 6 },
    ]);
    expect(record.stages[1]!.seconds).toBe(3);
  });

  it('has a column for the start and for the end of each stage, and none for evaluations within', () => {
    expect(matrixOf(record).columns).toEqual(['initial', 'sft', 'math']);
    expect(matrixTable(record)).toEqual([
      '                         start  sft    math',
      'sums.non_thinking.avg@2  0.000  0.250  0.750*',
    ]);
  });

  it('says what RL stages gained in their own domain', () => {
    expect(gainsOf(record)).toEqual([
      { stage: 'math', domain: 'math', path: 'sums.non_thinking.avg@2', before: 0.25, after: 0.75 },
    ]);
  });

  it('draws a panel a stage and a cell an evaluation', () => {
    const { 'matrix.svg': matrix, 'rewards.svg': rewards } = picturesOf(record);
    expect(matrix!.match(/>0\.750</g)).toHaveLength(1);
    expect(matrix!.match(/#d94801/g)).toHaveLength(1);
    expect(rewards!.match(/<polyline/g)).toHaveLength(4);
    expect(rewards).not.toContain('NaN');
  });
});

describe('its curves', () => {
  it('stand between round ticks', () => {
    expect(scaleOf([0.12, 0.87])).toMatchObject({ low: 0, high: 1 });
    expect(scaleOf([3, 3]).high).toBeGreaterThan(3 - 1e-9);
  });

  it('are averaged over nine steps, fewer at the ends', () => {
    expect(movingMean([1, 1, 1, 1, 10])).toEqual([2.8, 2.8, 2.8, 2.8, 2.8]);
    expect(movingMean([0, 0, 0, 0, 0, 10])[0]).toBe(0);
  });

  it('escape what they are labelled with', () => {
    expect(label(1, 2.345, 'a<b & "c"')).toBe('<text x="1" y="2.35">a&lt;b &amp; &quot;c&quot;</text>');
  });
});

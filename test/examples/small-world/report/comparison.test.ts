// What a stage did, task by task: own domain and others, unscored tasks left out on both sides, suites and seeds averaged by task.
import { describe, expect, it } from 'vitest';
import type { EvaluationCell } from '../../../../api/contract/event.ts';
import type { StageRecord } from '../../../../examples/small-world/report/record.ts';
import { effectsOf, effectsOverSeeds } from '../../../../examples/small-world/report/comparison.ts';

const stage = (name: string, domain: string, reinforced = true): StageRecord => ({
  ...{ name, domain, reinforced, steps: [], seconds: 0 },
});
const stages = [stage('sft', 'sft', false), stage('rlhf', 'chat'), stage('math', 'math')];

const cell = (suite: string, domain: string, values: (number | null)[]): EvaluationCell => ({
  ...{ suite, domain, mode: 'thinking', metric: 'avg@8', value: 0, low: 0, high: 0, tasks: values.length },
  values,
});

const heldOut = [
  { after: 'sft', cells: [cell('chat', 'chat', [0, 0.5, null]), cell('math', 'math', [0, 0.25])] },
  { after: 'rlhf', cells: [cell('chat', 'chat', [0.5, 1, 1]), cell('math', 'math', [0.125, 0.125])] },
  { after: 'math', cells: [cell('chat', 'chat', [0.25, 1, null]), cell('math', 'math', [0.5, 0.75])] },
];

describe('effectsOf', () => {
  it('compares each RL stage with the end of the stage before it, on tasks scored both times', () => {
    expect(effectsOf(stages, heldOut)).toMatchObject([
      {
        stage: 'rlhf',
        own: { domain: 'chat', tasks: 2, before: 0.25, after: 0.75, change: 0.5, low: 0.5, high: 0.5 },
        others: [
          { domain: 'math', tasks: 2, before: 0.125, after: 0.125, change: 0, low: -0.125, high: 0.125 },
        ],
      },
      {
        stage: 'math',
        own: { domain: 'math', before: 0.125, after: 0.625, change: 0.5 },
        others: [
          { domain: 'chat', tasks: 2, before: 0.75, after: 0.625, change: -0.125, low: -0.25, high: 0 },
        ],
      },
    ]);
  });

  it('takes the mean of the suites of a domain, task by task', () => {
    const both = (values: number[], other: number[]) => [
      cell('chat', 'chat', values),
      cell('short', 'chat', other),
    ];
    const [effect] = effectsOf(stages.slice(0, 2), [
      { after: 'sft', cells: both([0, 1], [0, 0]) },
      { after: 'rlhf', cells: both([1, 1], [0, 1]) },
    ]);
    expect(effect!.own).toMatchObject({
      tasks: 2,
      before: 0.25,
      after: 0.75,
      change: 0.5,
      low: 0.5,
      high: 0.5,
    });
  });

  it('averages seeds by task before it draws tasks', () => {
    const seed = (after: number[]) => [
      { after: 'sft', cells: [cell('chat', 'chat', [0, 0])] },
      { after: 'rlhf', cells: [cell('chat', 'chat', after)] },
    ];
    const [effect] = effectsOverSeeds(stages.slice(0, 2), [seed([1, 0]), seed([0, 1])]);
    expect(effect!.own).toMatchObject({ change: 0.5, low: 0.5, high: 0.5 });
  });

  it('names a stage that was not measured, and a domain without a suite', () => {
    expect(() => effectsOf(stages, heldOut.slice(0, 2))).toThrow(
      'stage math was not evaluated on both sides',
    );
    expect(() => effectsOf([stage('sft', 'sft', false), stage('rlhf', 'poems')], heldOut)).toThrow(
      'no suite measures poems',
    );
  });
});

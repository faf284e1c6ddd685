// Which checkpoints of steps a job keeps: the decision alone, case by case.
import { describe, expect, test } from 'vitest';
import { thinned, type Cell, type Held } from '../../db/retention/thin.ts';

const step = (id: string, at: number, stage = 'math'): Held => ({ id, stage, stageIndex: stage === 'sft' ? 0 : 1, step: at, kind: 'step', attempt: 1 }); // prettier-ignore
const end = (id: string, at: number, stage = 'math'): Held => ({ ...step(id, at, stage), kind: 'stage_end' });
const cell = (value: number, at: number | null, changes: Partial<Cell> = {}): Cell => ({ after: 'math', step: at, suite: 'sums', domain: 'math', mode: 'non_thinking', metric: 'avg@4', value, ...changes }); // prettier-ignore
const held = [
  step('a', 1),
  step('b', 2),
  step('c', 3),
  end('d', 4),
  step('e', 1, 'code'),
  step('f', 2, 'code'),
];

describe('without evaluations', () => {
  test.each([
    [undefined, []],
    [1, ['a', 'b', 'c', 'e']],
    [2, ['a', 'b', 'c']],
    [5, []],
    [100, []],
  ])('keep_last %s: %j go, ends of stages never', (keep_last, gone) => {
    expect(thinned({ every_steps: 1, keep_last }, ['math'], held, [])).toEqual(gone);
  });

  test('the newest are those committed last, also where a resume had gone back', () => {
    const rewound = [step('c', 1), step('a', 2), step('b', 3)];
    expect(thinned({ every_steps: 1, keep_last: 1 }, [], rewound, [])).toEqual(['a', 'b']);
  });
});

describe('with evaluations', () => {
  const policy = { every_steps: 1, keep_last: 1 };

  test('the best of each domain stays, whether asked for or not', () => {
    const cells = [
      cell(0.9, 1),
      cell(0.5, 2),
      cell(0.1, null),
      cell(0.7, 3, { domain: 'code', suite: 'programs' }),
    ];
    expect(thinned(policy, ['math', 'code'], held, cells)).toEqual(['b', 'e']);
    expect(thinned(policy, ['math'], held, cells)).toEqual(['b', 'c', 'e']);
  });

  test('where the end of a stage is best no step has to stay for that', () => {
    expect(thinned(policy, ['math'], held, [cell(0.5, 1), cell(0.9, null)])).toEqual(['a', 'b', 'c', 'e']);
  });

  test('keep_best by a metric; of equals the later, of a loss the least', () => {
    const by = (metric: string, cells: Cell[]) =>
      thinned({ ...policy, keep_best: { metric } }, [], held, cells);
    const path = 'sums.non_thinking.avg@4';
    expect(by(path, [cell(0.9, 1), cell(0.5, 2)])).toEqual(['b', 'c', 'e']);
    expect(by(path, [cell(0.9, 1), cell(0.9, 2)])).toEqual(['a', 'c', 'e']);
    const loss = (value: number, at: number) => cell(value, at, { metric: 'loss' });
    expect(by('sums.non_thinking.loss', [loss(2, 1), loss(1, 2), loss(3, 3)])).toEqual(['a', 'c', 'e']);
    expect(by('sums.thinking.avg@4', [cell(0.9, 1)])).toEqual(['a', 'b', 'c', 'e']);
  });

  test('an evaluation within another stage is of that stage', () => {
    const cells = [cell(0.9, 1, { after: 'code' })];
    expect(thinned(policy, ['math'], held, cells)).toEqual(['a', 'b', 'c']);
  });
});

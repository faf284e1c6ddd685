// Which end of a stage is best in a domain, and what is not compared.
import { describe, expect, it } from 'vitest';
import type { EvaluationCell } from '../../../api/contract/event.ts';
import { bestOf } from '../../../runner/cascade/distill/best.ts';
import { chooseTeachers } from '../../../runner/cascade/distill/teachers.ts';
import { DataError } from '../../../runner/data/error.ts';
import { distillDomain } from '../../support/tiny-distill.ts';

const cell = (value: number, changes: Partial<EvaluationCell> = {}): EvaluationCell => ({
  ...{ suite: 'sums', domain: 'math', mode: 'non_thinking', metric: 'avg@4', tasks: 5 },
  ...{ value, low: value, high: value },
  ...changes,
});
const after = (stage: string, ...cells: EvaluationCell[]) => ({ after: stage, cells });

describe('bestOf', () => {
  it('is the highest, of ties the later', () => {
    const [low, high] = [cell(0.25), cell(0.5)];
    expect(bestOf('math', [after('a', low), after('b', high), after('c', low)])).toEqual({
      stage: 'b',
      score: 0.5,
    });
    expect(bestOf('math', [after('a', high), after('b', high), after('c', low)])?.stage).toBe('b');
  });

  it('is never the initial model, nor one of another domain', () => {
    const other = cell(0.9, { domain: 'code' });
    expect(bestOf('math', [after('initial', cell(1)), after('a', cell(0)), after('b', other)])?.stage).toBe(
      'a',
    );
    expect(bestOf('math', [after('initial', cell(1)), after('b', other)])).toBeUndefined();
  });

  it('has the mean over suites and modes, of the first metric of each', () => {
    const thinking = { mode: 'thinking' } as const;
    const points = (share: number) => [
      cell(100 * share, { suite: 'ioi', metric: 'points' }),
      cell(share, { suite: 'ioi', metric: 'points_share' }),
    ];
    const first = after(
      'a',
      cell(0.5),
      cell(0.9, { metric: 'pass@4' }),
      cell(0.75, thinking),
      ...points(0.25),
    );
    const second = after(
      'b',
      cell(0.5),
      cell(0.1, { metric: 'pass@4' }),
      cell(0.5, thinking),
      ...points(0.51),
    );
    // (0.5 + 0.75 + 0.25) / 3 = 0.5 against (0.5 + 0.5 + 0.51) / 3 = 0.503.
    expect(bestOf('math', [first])?.score).toBeCloseTo(0.5, 12);
    expect(bestOf('math', [first, second])?.stage).toBe('b');
  });

  it('goes by losses, the lower the better, only where nothing else measures the domain', () => {
    const loss = (value: number) => cell(value, { suite: 'held-out', metric: 'loss' });
    expect(bestOf('math', [after('a', loss(2)), after('b', loss(1)), after('c', loss(3))])).toEqual({
      stage: 'b',
      score: -1,
    });
    expect(bestOf('math', [after('a', loss(2), cell(0.2)), after('b', loss(1), cell(0.1))])?.stage).toBe('a');
  });

  it('does not compare a mean over fewer suites with one over all', () => {
    const hard = { suite: 'hard' };
    const whole = after('a', cell(0.9), cell(0.1, hard));
    // All tasks of the hard suite were unscored after b.
    expect(bestOf('math', [whole, after('b', cell(0.9))])).toEqual({ stage: 'a', score: 0.5 });
  });
});

describe('chooseTeachers', () => {
  const stage = (...domains: object[]) => ({ name: 'distill', domains: domains.map(distillDomain) });

  it('names each as events do, and says by which score best was chosen', () => {
    const domains = [
      { domain: 'math' },
      { domain: 'code', teacher: 'stage:code' },
      { domain: 'chat', teacher: { uri: '/models/chat' } },
    ];
    expect(chooseTeachers(stage(...domains), [after('rl', cell(0.5))])).toEqual([
      { domain: 'math', teacher: 'stage:rl', score: 0.5 },
      { domain: 'code', teacher: 'stage:code', score: null },
      { domain: 'chat', teacher: '/models/chat', score: null },
    ]);
  });

  it('says so where nothing says which is best', () => {
    const choose = () => chooseTeachers(stage({ domain: 'math' }), [after('initial', cell(1))]);
    expect(choose).toThrow(DataError);
    expect(choose).toThrow(/^stage distill: nothing says which teacher is best in the domain math/);
  });
});

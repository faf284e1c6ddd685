// The rule by which `best` is chosen: which cells of a domain count, what a missing one and a tie mean.
import { describe, expect, it } from 'vitest';
import { strongestIn } from '../../../api/contract/strongest.ts';

const cell = (metric: string, value: number, domain = 'code') => ({ domain, metric, value });
const end = (name: string, ...cells: ReturnType<typeof cell>[]) => ({ name, cells });
const bestOf = (...ends: ReturnType<typeof end>[]) => strongestIn('code', ends)?.end.name;

describe('the strongest in a domain', () => {
  it('has the highest mean over its suites and modes of the first metric of each', () => {
    const first = end(
      'first',
      cell('avg@4', 0.1),
      cell('avg@4', 0.2),
      cell('pass@4', 1),
      cell('points', 300),
      cell('points_share', 0.6),
      cell('win_rate', 0.7),
      cell('loss', 1),
      cell('avg@1', 1, 'math'),
    );
    const second = end(
      'second',
      cell('avg@4', 0.4),
      cell('avg@4', 0),
      cell('points_share', 0.5),
      cell('win_rate', 0.65),
    );
    expect(strongestIn('code', [first, second])).toEqual({
      end: first,
      score: expect.closeTo(0.4, 12) as number,
    });
    expect(strongestIn('math', [first, second])).toEqual({ end: first, score: 1 });
    expect(strongestIn('chat', [first, second])).toBeUndefined();
  });

  it('has the lowest loss where the domain has no other suite', () => {
    expect(bestOf(end('a', cell('loss', 2)), end('b', cell('loss', 2.5)))).toBe('a');
    expect(
      bestOf(end('a', cell('loss', 2), cell('avg@1', 0.1)), end('b', cell('loss', 9), cell('avg@1', 0.2))),
    ).toBe('b');
  });

  it('is measured by as many suites as any: fewer are not to be compared', () => {
    expect(bestOf(end('a', cell('avg@1', 1)), end('b', cell('avg@1', 0.1), cell('avg@1', 0.2)))).toBe('b');
  });

  it('is the later of equals, and none where nothing was evaluated', () => {
    const equal = [
      end('a', cell('avg@1', 0.7)),
      end('b', cell('avg@1', 0.7)),
      end('c', cell('avg@1', 0.2)),
      end('d'),
    ];
    expect(bestOf(...equal)).toBe('b');
    expect(bestOf(end('a'), end('b', cell('pass@2', 1)))).toBeUndefined();
    expect(bestOf()).toBeUndefined();
  });
});

// DAPO's filter: which groups it accepts, and what is left of a batch that it could not fill.
import { describe, expect, it } from 'vitest';
import { isAccepted, trimmed } from '../../../runner/cascade/rl/batch-filter.ts';
import { groupOf } from '../../support/groups.ts';
import { sourceOf } from '../../support/source.ts';

const rows = [{ prompt: 'a', answer: '1' }];
const source = sourceOf(rows, { mode: 'half_half' });

describe('isAccepted', () => {
  it.each<[string, (number | null)[], boolean]>([
    ['mixed', [1, 0], true],
    ['all right', [1, 1], false],
    ['all wrong', [0, 0, 0], false],
    // Sample deviation of (0, d) is d / sqrt(2): 1e-6 from d = 1.4143e-6 on.
    ['a difference that is rounding noise', [0, 1.4e-6], false],
    ['the least difference that counts', [0, 1.42e-6], true],
    ['one scored alone', [1, null], false],
    ['nothing scored', [null, null], false],
    ['the scored ones mixed', [1, null, 0], true],
  ])('%s', (_, values_G, accepted) => {
    expect(isAccepted(groupOf({ source, task: 0, mode: 'thinking' }, values_G))).toBe(accepted);
  });
});

describe('trimmed', () => {
  it('leaves equal halves of each source, the first of each mode', () => {
    const other = sourceOf(rows, { domain: 'code', mode: 'half_half' });
    const plain = sourceOf(rows, { domain: 'chat' });
    const groups = [
      groupOf({ source, task: 1, mode: 'thinking' }, [1, 0]),
      groupOf({ source, task: 2, mode: 'thinking' }, [1, 0]),
      groupOf({ source: other, task: 3, mode: 'thinking' }, [1, 0]),
      groupOf({ source: plain, task: 4, mode: undefined }, [1, 0]),
      groupOf({ source, task: 5, mode: 'non_thinking' }, [1, 0]),
      groupOf({ source: plain, task: 6, mode: undefined }, [1, 0]),
    ];
    expect(trimmed(groups).map(({ task }) => task)).toEqual([1, 4, 5, 6]);
    expect(trimmed([])).toEqual([]);
  });
});

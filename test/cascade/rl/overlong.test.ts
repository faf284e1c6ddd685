import { describe, expect, it } from 'vitest';
import { applyOverlong } from '../../../runner/cascade/rl/overlong.ts';

describe('applyOverlong', () => {
  it('leaves ended rollouts alone under keep, zero and filter', () => {
    for (const policy of ['keep', 'zero', 'filter'] as const) {
      expect(applyOverlong(policy, 0.7, 100, false, 100)).toEqual({ reward: 0.7, inLoss: true });
    }
  });

  it('keeps, zeroes or masks truncated ones', () => {
    expect(applyOverlong('keep', 0.7, 100, true, 100)).toEqual({ reward: 0.7, inLoss: true });
    expect(applyOverlong('zero', 0.7, 100, true, 100)).toEqual({ reward: 0, inLoss: true });
    expect(applyOverlong('filter', 0.7, 100, true, 100)).toEqual({ reward: 0.7, inLoss: false });
  });

  it('penalises by length inside the last fifth (DAPO Eq. 13)', () => {
    // maximum 100, buffer 20: 80 tokens cost nothing, 90 half the buffer, 100 all of it, truncation exactly 1
    expect(applyOverlong('penalty', 1, 80, false, 100).reward).toBe(1);
    expect(applyOverlong('penalty', 1, 90, false, 100).reward).toBe(0.5);
    expect(applyOverlong('penalty', 1, 100, false, 100).reward).toBe(0);
    expect(applyOverlong('penalty', 0, 100, true, 100)).toEqual({ reward: -1, inLoss: true });
  });
});

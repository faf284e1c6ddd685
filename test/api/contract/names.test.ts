// Durations as specs give them: whatever is accepted fits a timer, since a longer one would fire at once.
import { describe, expect, test } from 'vitest';
import { duration, durationMs } from '../../../api/contract/names.ts';

describe('duration', () => {
  test.each([
    ['1s', 1_000],
    ['15m', 900_000],
    ['576h', 2_073_600_000],
    ['2073600s', 2_073_600_000],
  ])('%s is %d ms', (text, ms) => {
    expect(durationMs(duration.parse(text))).toBe(ms);
    expect(ms).toBeLessThan(2 ** 31);
  });

  test.each(['577h', '34561m', '9999999s'])('%s is longer than a timer can wait', (text) => {
    expect(duration.safeParse(text).error?.issues[0]?.message).toBe('at most 24 days (576h)');
  });

  test.each(['', '0s', '15', '1.5h', '-1s', '5d'])('%j is none', (text) => {
    expect(duration.safeParse(text).error?.issues).toMatchObject([
      { message: 'a whole number followed by s, m or h, for example "15m"' },
    ]);
  });
});

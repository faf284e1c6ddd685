// Unified diffs of two versions, against what Python's difflib.unified_diff (CPython 3.11) gives.
import { describe, expect, it } from 'vitest';
import { splitLines, wholeFile } from '../../../runner/rewards/swe/file-tree.ts';
import { unifiedDiff } from '../../../runner/rewards/swe/unified-diff.ts';
import { WorkBudget } from '../../../runner/rewards/swe/work.ts';

const diff = (before: string, after: string) =>
  unifiedDiff(wholeFile(splitLines(before)), wholeFile(splitLines(after)), new WorkBudget(1e8));
const numbered = (count: number, from = 1) => Array.from({ length: count }, (_, i) => `line ${from + i}`);

describe('unifiedDiff', () => {
  it('is empty where nothing changed, or only line endings and the newline at the end did', () => {
    expect(diff('a\nb\n', 'a\nb\n')).toBe('');
    expect(diff('a\r\nb\r\n', 'a\nb')).toBe('');
  });

  it('three lines of context, one hunk for near changes', () => {
    const before = numbered(20);
    const after = before.with(4, 'five').with(11, 'twelve');
    expect(diff(before.join('\n'), after.join('\n'))).toBe(
      [
        '@@ -2,14 +2,14 @@',
        ' line 2',
        ' line 3',
        ' line 4',
        '-line 5',
        '+five',
        ...numbered(6, 6).map((l) => ` ${l}`),
        '-line 12',
        '+twelve',
        ' line 13',
        ' line 14',
        ' line 15',
      ].join('\n'),
    );
  });

  it('two hunks where more than six lines lie between', () => {
    const before = numbered(20);
    const after = before.with(4, 'five').with(12, 'thirteen');
    expect(
      diff(before.join('\n'), after.join('\n'))
        .split('\n')
        .filter((line) => line.startsWith('@@')),
    ).toEqual(['@@ -2,7 +2,7 @@', '@@ -10,7 +10,7 @@']);
  });

  it('files from nothing and to nothing', () => {
    expect(diff('', 'a\nb\n')).toBe('@@ -0,0 +1,2 @@\n+a\n+b');
    expect(diff('a\n', '')).toBe('@@ -1 +0,0 @@\n-a');
    expect(diff('a\n', 'a\nb\n')).toBe('@@ -1 +1,2 @@\n a\n+b');
  });

  it('segments keep the numbers of the file that they are cut from', () => {
    const before = [
      { start: 9, lines: ['a', 'b'] },
      { start: 99, lines: ['c'] },
    ];
    const after = [
      { start: 9, lines: ['a', 'x', 'b'] },
      { start: 99, lines: ['d'] },
    ];
    expect(unifiedDiff(before, after, new WorkBudget(1e6))).toBe(
      '@@ -10,2 +10,3 @@\n a\n+x\n b\n@@ -100 +101 @@\n-c\n+d',
    );
  });
});

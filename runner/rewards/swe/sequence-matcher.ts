// Python's difflib.SequenceMatcher (without a junk function), reproduced: which stretches of two sequences match, in its
// order of preference (the longest; of these the first in a; of these the first in b). Not a shortest edit script: the
// SWE-RL reward is defined by this very greedy choice. Checked against difflib's own numbers, autojunk on and off.
import type { WorkBudget } from './work.ts';

/** `size` elements from `a` on in one sequence equal those from `b` on in the other. */
export interface Match {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

export interface MatcherOptions {
  /** Python's heuristic: of 200 and more elements in b, those that make up more than 1 % are no start of a match. */
  readonly autojunk: boolean;
  readonly work: WorkBudget;
}

/** From this length of b on `autojunk` means something. */
const POPULAR_FROM = 200;

/** Matching stretches in ascending order, adjacent ones merged, as `get_matching_blocks` without its closing dummy. */
export function matchingBlocks(
  a: readonly string[],
  b: readonly string[],
  { autojunk, work }: MatcherOptions,
): Match[] {
  const { symbols_a, symbols_b, count } = numbered(a, b);
  const index = positionsIn(symbols_b, count, autojunk);
  const longest = longestMatchIn(symbols_a, symbols_b, index, work);
  const found: Match[] = [];
  const open = [{ alo: 0, ahi: a.length, blo: 0, bhi: b.length }];
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const match = longest(range);
    if (match.size === 0) continue;
    found.push(match);
    const left = { ...range, ahi: match.a, bhi: match.b };
    const right = { ...range, alo: match.a + match.size, blo: match.b + match.size };
    for (const part of [left, right]) if (part.alo < part.ahi && part.blo < part.bhi) open.push(part);
  }
  return merged(found.sort((one, other) => one.a - other.a || one.b - other.b));
}

/** `SequenceMatcher(None, a, b, autojunk).ratio()` over the characters (code points) of two texts. */
export function ratio(a: string, b: string, options: MatcherOptions): number {
  const [points_a, points_b] = [Array.from(a), Array.from(b)];
  const length = points_a.length + points_b.length;
  if (length === 0) return 1;
  const matched = matchingBlocks(points_a, points_b, options).reduce((total, { size }) => total + size, 0);
  return (2 * matched) / length;
}

interface Range {
  readonly alo: number;
  readonly ahi: number;
  readonly blo: number;
  readonly bhi: number;
}

/** Where each symbol stands in b: its positions are `positions[starts[symbol]]` up to `positions[starts[symbol + 1]]`. */
interface Positions {
  readonly starts: Int32Array;
  readonly positions: Int32Array;
}

function numbered(a: readonly string[], b: readonly string[]) {
  const numbers = new Map<string, number>();
  const number = (element: string): number => {
    const known = numbers.get(element);
    if (known !== undefined) return known;
    numbers.set(element, numbers.size);
    return numbers.size - 1;
  };
  const [symbols_a, symbols_b] = [Int32Array.from(a, number), Int32Array.from(b, number)];
  return { symbols_a, symbols_b, count: numbers.size };
}

function positionsIn(symbols: Int32Array, count: number, autojunk: boolean): Positions {
  const often = new Int32Array(count);
  for (const symbol of symbols) often[symbol]! += 1;
  const allowed =
    autojunk && symbols.length >= POPULAR_FROM ? Math.floor(symbols.length / 100) + 1 : symbols.length;
  const starts = new Int32Array(count + 1);
  for (let symbol = 0; symbol < count; symbol += 1)
    starts[symbol + 1] = starts[symbol]! + (often[symbol]! > allowed ? 0 : often[symbol]!);
  const positions = new Int32Array(starts[count]!);
  const filled = starts.slice();
  symbols.forEach((symbol, j) => {
    if (often[symbol]! <= allowed) positions[filled[symbol]!++] = j;
  });
  return { starts, positions };
}

/**
 * The longest match within a range. `lengths[j + 1]` is the length of the match that ends at (i, j), valid where
 * `rows[j + 1]` says that it was written for this i; so nothing has to be cleared between rows or ranges.
 */
function longestMatchIn(
  a: Int32Array,
  b: Int32Array,
  { starts, positions }: Positions,
  work: WorkBudget,
): (range: Range) => Match {
  const lengths = new Int32Array(b.length + 1);
  const rows = new Int32Array(b.length + 1);
  let row = 1;
  return ({ alo, ahi, blo, bhi }) => {
    let [bestA, bestB, size] = [alo, blo, 0];
    row += 1; // the rows of the range before are not neighbours of this one's
    for (let i = alo; i < ahi; i += 1, row += 1) {
      const first = starts[a[i]!]!;
      let improved = false;
      let at = firstFrom(positions, first, starts[a[i]! + 1]!, bhi) - 1;
      const from = at;
      // Downwards, so that lengths[j] still is the row before's; of equals in a row the last seen, the first in b, wins.
      for (; at >= first; at -= 1) {
        const j = positions[at]!;
        if (j < blo) break;
        const length = j > blo && rows[j] === row - 1 ? lengths[j]! + 1 : 1;
        lengths[j + 1] = length;
        rows[j + 1] = row;
        if (length > size || (improved && length === size)) {
          [bestA, bestB, size] = [i - length + 1, j - length + 1, length];
          improved = true;
        }
      }
      work.spend(from - at + 1);
    }
    return extended(a, b, { a: bestA, b: bestB, size }, { alo, ahi, blo, bhi });
  };
}

/** The first index in `positions[from, to)` of a position that is not below `bound`. */
function firstFrom(positions: Int32Array, from: number, to: number, bound: number): number {
  if (to > from && positions[to - 1]! < bound) return to;
  let [lo, hi] = [from, to];
  while (lo < hi) {
    const middle = (lo + hi) >> 1;
    if (positions[middle]! < bound) lo = middle + 1;
    else hi = middle;
  }
  return lo;
}

/** Popular elements start no match but lengthen one. Even an empty match grows, where the range begins with equals. */
function extended(a: Int32Array, b: Int32Array, match: Match, { alo, ahi, blo, bhi }: Range): Match {
  let { a: i, b: j, size } = match;
  while (i > alo && j > blo && a[i - 1] === b[j - 1]) [i, j, size] = [i - 1, j - 1, size + 1];
  while (i + size < ahi && j + size < bhi && a[i + size] === b[j + size]) size += 1;
  return { a: i, b: j, size };
}

function merged(matches: readonly Match[]): Match[] {
  const blocks: Match[] = [];
  for (const match of matches) {
    const last = blocks.at(-1);
    if (last !== undefined && last.a + last.size === match.a && last.b + last.size === match.b)
      blocks[blocks.length - 1] = { ...last, size: last.size + match.size };
    else blocks.push(match);
  }
  return blocks;
}

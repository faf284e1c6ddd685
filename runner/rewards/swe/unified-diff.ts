// The unified diff of two versions of a file, as Python's difflib.unified_diff writes it with three lines of context, without
// the two lines that name the files (SWE-RL drops them as well).
import type { FileText } from './file-tree.ts';
import type { Match } from './sequence-matcher.ts';
import { matchingBlocks } from './sequence-matcher.ts';
import type { WorkBudget } from './work.ts';

const CONTEXT = 3;

interface Opcode {
  readonly equal: boolean;
  readonly a0: number;
  readonly a1: number;
  readonly b0: number;
  readonly b1: number;
}

/** Lines joined by newlines; empty where nothing changed. Segments of a file known in parts are compared one by one. */
export function unifiedDiff(before: FileText, after: FileText, work: WorkBudget): string {
  let lines: string[] = [];
  let grown = 0;
  for (let index = 0; index < Math.max(before.length, after.length); index += 1) {
    const a = before[index]?.lines ?? [];
    const b = after[index]?.lines ?? [];
    const start = (before[index] ?? after[index])!.start;
    lines = lines.concat(segmentDiff(a, b, { a: start, b: start + grown }, work));
    grown += b.length - a.length;
  }
  return lines.join('\n');
}

function segmentDiff(
  a: readonly string[],
  b: readonly string[],
  offset: { readonly a: number; readonly b: number },
  work: WorkBudget,
): string[] {
  const codes = opcodes(matchingBlocks(a, b, { autojunk: true, work }), a.length, b.length);
  return grouped(codes).flatMap((group) => {
    const [first, last] = [group[0]!, group.at(-1)!];
    return [
      `@@ -${span(offset.a + first.a0, offset.a + last.a1)} +${span(offset.b + first.b0, offset.b + last.b1)} @@`,
      ...group.flatMap(({ equal, a0, a1, b0, b1 }) =>
        equal
          ? a.slice(a0, a1).map((line) => ` ${line}`)
          : [...a.slice(a0, a1).map((line) => `-${line}`), ...b.slice(b0, b1).map((line) => `+${line}`)],
      ),
    ];
  });
}

/** The format's numbers: from 1, the length left out where it is 1; an empty range names the line before it. */
function span(from: number, to: number): string {
  const length = to - from;
  if (length === 1) return String(from + 1);
  return `${length === 0 ? from : from + 1},${length}`;
}

function opcodes(matches: readonly Match[], lengthA: number, lengthB: number): Opcode[] {
  const codes: Opcode[] = [];
  let [a0, b0] = [0, 0];
  for (const { a, b, size } of [...matches, { a: lengthA, b: lengthB, size: 0 }]) {
    if (a0 < a || b0 < b) codes.push({ equal: false, a0, a1: a, b0, b1: b });
    if (size > 0) codes.push({ equal: true, a0: a, a1: a + size, b0: b, b1: b + size });
    [a0, b0] = [a + size, b + size];
  }
  return codes;
}

/** Changes with their context; an unchanged stretch longer than two contexts parts one group from the next. */
function grouped(codes: readonly Opcode[]): Opcode[][] {
  const groups: Opcode[][] = [];
  let group: Opcode[] = [];
  for (const [index, code] of codes.entries()) {
    const isFirst = index === 0;
    const isLast = index === codes.length - 1;
    if (!code.equal) group.push(code);
    else if (isFirst || isLast || code.a1 - code.a0 > 2 * CONTEXT) {
      if (!isFirst) group.push({ ...code, ...headOf(code) });
      if (!isFirst && !isLast) groups.push(group);
      if (!isFirst && isLast) continue;
      group = [{ ...code, ...tailOf(code) }];
    } else group.push(code);
  }
  if (group.some(({ equal }) => !equal)) groups.push(group);
  return groups;
}

const headOf = ({ a0, a1, b0, b1 }: Opcode) => ({
  a1: Math.min(a1, a0 + CONTEXT),
  b1: Math.min(b1, b0 + CONTEXT),
});
const tailOf = ({ a0, a1, b0, b1 }: Opcode) => ({
  a0: Math.max(a0, a1 - CONTEXT),
  b0: Math.max(b0, b1 - CONTEXT),
});

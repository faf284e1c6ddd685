// How similar two changes of the same files are: SWE-RL's reward (arXiv 2502.18449, section 2.1), computed per file over the
// union of the files that either side changes.
import type { FileText, FileTree } from './file-tree.ts';
import { matchingBlocks, ratio } from './sequence-matcher.ts';
import { unifiedDiff } from './unified-diff.ts';
import { TooMuchWork, WorkBudget } from './work.ts';

/** Steps for comparing one answer's diffs by characters (two of 14,000 of ordinary source fit), then by lines. */
const CHARACTER_WORK = 40_000_000;
const LINE_WORK = 20_000_000;

interface Budgets {
  readonly characters: WorkBudget;
  readonly lines: WorkBudget;
}

/** Paths whose lines differ. A file without lines and one that is absent are the same. */
export function changedPaths(before: FileTree, after: FileTree): Set<string> {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return new Set(paths.filter((path) => !sameLines(before.get(path), after.get(path))));
}

function sameLines(one: FileText | undefined, other: FileText | undefined): boolean {
  if (one === other) return true;
  const [lines, others] = [linesOf(one), linesOf(other)];
  return lines.length === others.length && lines.every((line, index) => line === others[index]);
}

const linesOf = (file: FileText | undefined): string[] => (file ?? []).flatMap(({ lines }) => lines);

/**
 * Mean over the union of changed files of the ratio of their diffs (`predicted` is difflib's first sequence, as in SWE-RL);
 * a file that one side alone changes counts 0. Both sides must not be unchanged. Throws `TooMuchWork`.
 */
export function changeSimilarity(before: FileTree, predicted: FileTree, gold: FileTree): number {
  const budgets = { characters: new WorkBudget(CHARACTER_WORK), lines: new WorkBudget(LINE_WORK) };
  const [ours, theirs] = [changedPaths(before, predicted), changedPaths(before, gold)];
  const union = [...new Set([...ours, ...theirs])];
  const ratios = union.map((path) => {
    if (!ours.has(path) || !theirs.has(path)) return 0;
    if (sameLines(predicted.get(path), gold.get(path))) return 1;
    const diff = (after: FileTree) =>
      unifiedDiff(before.get(path) ?? [], after.get(path) ?? [], budgets.lines);
    return diffRatio(diff(predicted), diff(gold), budgets);
  });
  return ratios.reduce((total, value) => total + value, 0) / ratios.length;
}

/** The whole change as one unified diff. Throws `TooMuchWork`. */
export function changeDiff(before: FileTree, after: FileTree): string {
  const work = new WorkBudget(LINE_WORK);
  return [...changedPaths(before, after)]
    .map((path) => {
      const hunks = unifiedDiff(before.get(path) ?? [], after.get(path) ?? [], work);
      return `--- ${before.has(path) ? `a/${path}` : '/dev/null'}\n+++ ${after.has(path) ? `b/${path}` : '/dev/null'}\n${hunks}`;
    })
    .join('\n');
}

/** difflib's ratio over characters, autojunk off; once that takes too long, the share of characters in matching lines. */
function diffRatio(predicted: string, gold: string, { characters, lines }: Budgets): number {
  try {
    return ratio(predicted, gold, { autojunk: false, work: characters });
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    return lineRatio(predicted, gold, lines);
  }
}

function lineRatio(predicted: string, gold: string, work: WorkBudget): number {
  const [a, b] = [predicted.split('\n'), gold.split('\n')];
  const matched = matchingBlocks(a, b, { autojunk: false, work })
    .flatMap(({ a: from, size }) => a.slice(from, from + size))
    .reduce((total, line) => total + line.length + 1, 0);
  return (2 * matched) / (predicted.length + gold.length + 2);
}

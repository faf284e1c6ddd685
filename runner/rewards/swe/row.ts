// A swe row as files before and after its gold patch, and what is wrong with rows of which that cannot be made.
import type { SweRow } from '../../../api/contract/task.ts';
import { applyPatch } from './apply-patch.ts';
import type { FileTree, Segment } from './file-tree.ts';
import { PatchError, splitLines, wholeFile } from './file-tree.ts';
import type { FilePatch } from './patch.ts';
import { parsePatch } from './patch.ts';
import { changedPaths } from './similarity.ts';

/** Characters of a gold patch; a longer one could not be answered within the limit of an answer. */
const LONGEST_PATCH = 200_000;

export interface GoldChange {
  readonly before: FileTree;
  readonly after: FileTree;
}

/** Why the row is broken, for people; empty where it is sound. */
export function sweFaults(row: SweRow): readonly string[] {
  const change = goldChange(row);
  return 'faults' in change ? change.faults : [];
}

/** The files before and after the gold patch, or why there are none. */
export function goldChange(row: SweRow): GoldChange | { readonly faults: readonly string[] } {
  if (row.patch.length > LONGEST_PATCH) return { faults: [`patch: longer than ${LONGEST_PATCH} characters`] };
  try {
    const patches = parsePatch(row.patch);
    if (patches.length === 0) return { faults: ['patch: not a unified diff'] };
    const miscounted = patches.flatMap(({ from, to, hunks }) =>
      hunks
        .filter(({ counted }) => !counted)
        .map(
          ({ oldStart }) =>
            `patch: ${to ?? from ?? ''}: the line counts of the hunk at ${oldStart} do not hold`,
        ),
    );
    if (miscounted.length > 0) return { faults: miscounted };
    const before = row.files === undefined ? preImages(patches) : treeOf(row.files);
    const after = applyPatch(before, patches);
    if (changedPaths(before, after).size === 0) return { faults: ['patch: changes no line of any file'] };
    return { before, after };
  } catch (error) {
    if (error instanceof PatchError) return { faults: [`patch: ${error.message}`] };
    throw error;
  }
}

const treeOf = (files: NonNullable<SweRow['files']>): FileTree =>
  new Map(Object.entries(files).map(([path, text]) => [path, wholeFile(splitLines(text))]));

/** Each file that the patch changes, as the stretches that its hunks show. Throws `PatchError`. */
function preImages(patches: readonly FilePatch[]): FileTree {
  const segments = new Map<string, Segment[]>();
  for (const { from, hunks } of patches) {
    if (from === undefined) continue;
    const known = segments.get(from) ?? [];
    segments.set(from, known);
    for (const { oldStart, oldCount, lines } of hunks) {
      const start = oldCount === 0 ? oldStart : oldStart - 1;
      const last = known.at(-1);
      if (last !== undefined && start < last.start + last.lines.length)
        throw new PatchError(`${from}: the hunk at line ${oldStart} overlaps the one before it`);
      known.push({ start, lines: lines.filter(({ kind }) => kind !== '+').map(({ text }) => text) });
    }
  }
  return segments;
}

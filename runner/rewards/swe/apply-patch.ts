// Applies a unified diff to files. A hunk applies where its header says, or at the one other place of the file where its
// lines stand; never nearly (no fuzz) and never at one of several places.
import type { FileText, FileTree } from './file-tree.ts';
import { PatchError, hasLines, placesOf, wholeFile } from './file-tree.ts';
import type { FilePatch, Hunk } from './patch.ts';

/** One stretch of lines that a hunk replaces; `insert` may be empty, `remove` 0. */
interface Edit {
  readonly segment: number;
  readonly at: number;
  readonly remove: number;
  readonly insert: readonly string[];
}

/** Throws `PatchError`. Several patches of one file are one: their hunks all speak of the file before. */
export function applyPatch(before: FileTree, patches: readonly FilePatch[]): FileTree {
  const after = new Map(before);
  const made = new Set<string>();
  for (const patch of sameFilesJoined(patches)) {
    const changed = changedFile(before, patch);
    if (patch.from !== undefined && patch.from !== patch.to && !patch.copy && !made.has(patch.from))
      after.delete(patch.from);
    if (patch.to === undefined) continue;
    if (made.has(patch.to)) throw new PatchError(`${patch.to}: two changes make this file`);
    made.add(patch.to);
    after.set(patch.to, changed);
  }
  return after;
}

function sameFilesJoined(patches: readonly FilePatch[]): FilePatch[] {
  const joined = new Map<string, FilePatch>();
  for (const patch of patches) {
    const key = JSON.stringify([patch.from ?? null, patch.to ?? null]);
    const same = joined.get(key);
    if (same !== undefined && patch.from === undefined)
      throw new PatchError(`${patch.to ?? ''}: created twice`);
    joined.set(key, same === undefined ? patch : { ...same, hunks: [...same.hunks, ...patch.hunks] });
  }
  return [...joined.values()];
}

function changedFile(before: FileTree, { from, to, hunks }: FilePatch): FileText {
  if (from === undefined) return newFile(before, to, hunks);
  const file = before.get(from);
  if (file === undefined) throw new PatchError(`${from}: there is no such file`);
  if (to !== undefined && to !== from && before.has(to)) throw new PatchError(`${to}: exists already`);
  const edits = hunks.flatMap((hunk) => editsOf(hunk, file, from));
  const changed = withEdits(file, edits, from);
  if (to === undefined && hasLines(changed))
    throw new PatchError(`${from}: is to be deleted, but lines of it remain`);
  return changed;
}

function newFile(before: FileTree, to: string | undefined, hunks: readonly Hunk[]): FileText {
  if (to === undefined) throw new PatchError('a change from no file to no file');
  if (before.has(to)) throw new PatchError(`${to}: is to be created, but exists`);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  if (hunks.length > 1 || lines.some(({ kind }) => kind !== '+'))
    throw new PatchError(`${to}: a new file has one hunk with nothing but added lines`);
  return wholeFile(lines.map(({ text }) => text));
}

function editsOf(hunk: Hunk, file: FileText, path: string): Edit[] {
  const place = placeOf(hunk, file);
  if (typeof place === 'string') throw new PatchError(`${path}: the hunk at line ${hunk.oldStart} ${place}`);
  const edits: Edit[] = [];
  let { at } = place;
  let open: { at: number; remove: number; insert: string[] } | undefined;
  for (const { kind, text } of hunk.lines) {
    if (kind === ' ') {
      if (open !== undefined) edits.push({ segment: place.segment, ...open });
      open = undefined;
      at += 1;
      continue;
    }
    open ??= { at, remove: 0, insert: [] };
    if (kind === '+') open.insert.push(text);
    else {
      open.remove += 1;
      at += 1;
    }
  }
  if (open !== undefined) edits.push({ segment: place.segment, ...open });
  return edits;
}

function placeOf(hunk: Hunk, file: FileText): { segment: number; at: number } | string {
  const wanted = hunk.lines.filter(({ kind }) => kind !== '+').map(({ text }) => text);
  const line = wanted.length === 0 ? hunk.oldStart : hunk.oldStart - 1;
  const segment = file.findIndex(
    ({ start, lines }) => line >= start && line + wanted.length <= start + lines.length,
  );
  const stated = { segment, at: line - (file[segment]?.start ?? 0) };
  if (segment >= 0 && wanted.every((text, index) => file[segment]!.lines[stated.at + index] === text))
    return stated;
  if (wanted.length === 0) return 'adds lines where the file is not known or has no such line';
  const places = placesOf(file, wanted, 2);
  if (places.length === 2) return 'does not stand where it says, and fits at more than one other place';
  return places[0] ?? 'does not match the file';
}

/** All edits at once, each at its place in the file before. */
function withEdits(file: FileText, edits: readonly Edit[], path: string): FileText {
  return file.map((part, segment) => {
    const own = edits.filter((edit) => edit.segment === segment).sort((one, other) => one.at - other.at);
    let lines: string[] = [];
    let done = 0;
    for (const [index, { at, remove, insert }] of own.entries()) {
      if (index > 0 && (at < done || at === own[index - 1]!.at))
        throw new PatchError(`${path}: two hunks change the same lines`);
      lines = lines.concat(part.lines.slice(done, at), insert);
      done = at + remove;
    }
    return { ...part, lines: lines.concat(part.lines.slice(done)) };
  });
}

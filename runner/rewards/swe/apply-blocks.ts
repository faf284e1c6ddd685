// Applies search/replace blocks one after another, each to what the ones before it left. The lines of SEARCH must stand at
// exactly one place of the file, blank for blank; an empty SEARCH makes a file that is not there. Where a block can be parted
// in several ways the longest SEARCH that applies is meant: that the shorter one stands in the file as well says little.
import type { Block, Reading } from './blocks.ts';
import type { FileTree } from './file-tree.ts';
import { PatchError, hasLines, placesOf, spliced, wholeFile } from './file-tree.ts';

/** Throws `PatchError`. */
export function applyBlocks(before: FileTree, blocks: readonly Block[]): FileTree {
  const after = new Map(before);
  for (const block of blocks) {
    const path = knownPath(after, block.path);
    const outcomes = block.readings.map((reading) => replaced(after, path, reading));
    const applied = outcomes.find((outcome) => typeof outcome !== 'string');
    if (applied === undefined) throw new PatchError(`${path}: ${outcomes[0] as string}`);
    after.set(path, applied);
  }
  return after;
}

/** Models write paths as diffs have them, or relative to the root in other ways. */
function knownPath(tree: FileTree, written: string): string {
  const plain = written.replace(/^(?:\.?\/)+/, '');
  const bare = plain.replace(/^[ab]\//, '');
  return [written, plain, bare].find((path) => tree.has(path)) ?? plain;
}

/** The file with the block applied, or why it does not apply. */
function replaced(tree: FileTree, path: string, { search, replace }: Reading) {
  const file = tree.get(path);
  if (file === undefined || (search.length === 0 && !hasLines(file))) {
    if (search.some((line) => line.trim() !== '')) return 'SEARCH names lines of a file that is not there';
    return replace.length === 0 ? 'a block with neither SEARCH nor REPLACE' : wholeFile(replace);
  }
  if (search.length === 0) return 'an empty SEARCH in a file that has lines';
  const [place, other] = placesOf(file, search, 2);
  if (place === undefined) return 'the lines of SEARCH are not in the file';
  if (other !== undefined) return 'the lines of SEARCH stand at more than one place of the file';
  return spliced(file, place, search.length, replace);
}

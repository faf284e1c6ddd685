// Search/replace blocks as Agentless and SWE-RL ask for them, read from an answer:
//
//   ### path/of/file.py
//   <<<<<<< SEARCH
//   lines as they stand in the file
//   =======
//   lines to stand there
//   >>>>>>> REPLACE
//
// The markers alone delimit a block: fences around it are ignored, so that fences may be in it. Several blocks may follow
// one path. Whether a block applies is not decided here.
import { PatchError, splitLines } from './file-tree.ts';
import { trimEnd } from '../trim-end.ts';

export interface Block {
  /** As written, without decoration. */
  readonly path: string;
  /**
   * The ways to part the block, the longest SEARCH first: more than one where a line of its text looks like the divider,
   * as headings of reStructuredText do.
   */
  readonly readings: readonly Reading[];
}

export interface Reading {
  readonly search: readonly string[];
  readonly replace: readonly string[];
}

const MOST_BLOCKS = 500;
const MOST_DIVIDERS = 8;

const SEARCH = /^<{7} ?SEARCH\s*$/;
const DIVIDER = /^={7}\s*$/;
const REPLACE = /^>{7} ?REPLACE\s*$/;

/** Blocks in the order of the text; none where it has no SEARCH marker. Throws `PatchError`. */
export function parseBlocks(text: string): Block[] {
  const lines = splitLines(text);
  const blocks: Block[] = [];
  let path: string | undefined;
  for (let at = 0; at < lines.length; at += 1) {
    if (!SEARCH.test(lines[at]!)) {
      path = pathOf(lines[at]!) ?? path;
      continue;
    }
    if (path === undefined) throw new PatchError('a SEARCH block stands before any "### path"');
    if (blocks.length === MOST_BLOCKS) throw new PatchError(`more than ${MOST_BLOCKS} SEARCH blocks`);
    const end = closing(lines, at + 1, path);
    blocks.push({ path, readings: readingsOf(lines.slice(at + 1, end), path) });
    at = end;
  }
  return blocks;
}

function closing(lines: readonly string[], from: number, path: string): number {
  for (let at = from; at < lines.length; at += 1) {
    if (REPLACE.test(lines[at]!)) return at;
    if (SEARCH.test(lines[at]!)) break;
  }
  throw new PatchError(`${path}: a SEARCH block without ">>>>>>> REPLACE"`);
}

function readingsOf(body: readonly string[], path: string): Reading[] {
  const dividers = body.flatMap((line, index) => (DIVIDER.test(line) ? [index] : []));
  if (dividers.length === 0) throw new PatchError(`${path}: a SEARCH block without "======="`);
  if (dividers.length > MOST_DIVIDERS)
    throw new PatchError(`${path}: a SEARCH block with ${dividers.length} dividers`);
  return dividers.reverse().map((at) => ({ search: body.slice(0, at), replace: body.slice(at + 1) }));
}

/**
 * `### a.py`, also with `File:` before it, or in backticks, stars or quotes. Other headings are no paths: one has no blanks
 * and, unless three # mark it, a dot or slash.
 */
function pathOf(line: string): string | undefined {
  const [, marks, written] = /^(#{1,6}) +(?:File(?:name)?: *)?(\S+)\s*$/i.exec(line) ?? [];
  const path = written && trimEnd(written.replace(/^[`*"']+/, ''), /[`*"':]/);
  if (path === undefined || path === '') return undefined;
  return marks === '###' || /[./]/.test(path) ? path : undefined;
}

// A unified diff as data, and its parser. It reads what git writes and what models write: with prose and fences around it,
// with or without `diff --git`, with line counts that do not hold.
import { PatchError, splitLines } from './file-tree.ts';
import { patchPath, pathsOf } from './patch-path.ts';

export interface HunkLine {
  readonly kind: ' ' | '+' | '-';
  readonly text: string;
}

export interface Hunk {
  /** As its header says: the first line of the pre-image, from 1; for an empty pre-image the line before it. */
  readonly oldStart: number;
  readonly oldCount: number;
  readonly lines: readonly HunkLine[];
  /** Whether the counts of its header hold. */
  readonly counted: boolean;
}

/** The change of one file; `from` or `to` is undefined where the file does not exist on that side. */
export interface FilePatch {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly copy: boolean;
  readonly hunks: readonly Hunk[];
}

/** Hunks of one text; more are no patch that anyone wrote. */
const MOST_HUNKS = 2000;

const HUNK_HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

interface Draft {
  old: string | undefined;
  new: string | undefined;
  /** Whether `---` and `+++`, or rename and copy lines, named the files; else the `diff --git` line has to do. */
  named: boolean;
  created: boolean;
  deleted: boolean;
  copy: boolean;
  hunks: Hunk[];
}

/** File changes in the order of the text; none where the text holds no diff. Throws `PatchError`. */
export function parsePatch(text: string): FilePatch[] {
  const lines = splitLines(text);
  const drafts: Draft[] = [];
  let hunks = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const draft = drafts.at(-1);
    if (line.startsWith('diff --git ')) drafts.push(gitDraft(line));
    else if (isFileHeader(lines, at)) {
      const target = draft === undefined || draft.named || draft.hunks.length > 0 ? emptyDraft() : draft;
      if (target !== draft) drafts.push(target);
      Object.assign(target, { old: line.slice(4), new: lines[at + 1]!.slice(4), named: true });
      at += 1;
    } else if (line.startsWith('@@')) {
      if (draft === undefined) throw new PatchError('a hunk (@@ … @@) stands before any file is named');
      if ((hunks += 1) > MOST_HUNKS) throw new PatchError(`the diff has more than ${MOST_HUNKS} hunks`);
      const { hunk, end } = readHunk(lines, at);
      draft.hunks.push(hunk);
      at = end - 1;
    } else if (draft !== undefined && draft.hunks.length === 0) readExtendedHeader(draft, line);
  }
  return drafts.flatMap((draft) => filePatch(draft) ?? []);
}

const isFileHeader = (lines: readonly string[], at: number): boolean =>
  lines[at]!.startsWith('--- ') && (lines[at + 1] ?? '').startsWith('+++ ');

const emptyDraft = (): Draft => ({
  old: undefined,
  new: undefined,
  named: false,
  created: false,
  deleted: false,
  copy: false,
  hunks: [],
});

const gitDraft = (line: string): Draft => ({ ...emptyDraft(), ...pathsOf(line.slice('diff --git '.length)) });

function readExtendedHeader(draft: Draft, line: string): void {
  const [, word, path] = /^(?:rename|copy) (from|to) (.+)$/.exec(line) ?? [];
  if (word === 'from') Object.assign(draft, { old: `a/${patchPath(path!)}` });
  if (word === 'to') Object.assign(draft, { new: `b/${patchPath(path!)}` });
  if (line.startsWith('copy from ')) draft.copy = true;
  if (line.startsWith('new file mode ')) draft.created = true;
  if (line.startsWith('deleted file mode ')) draft.deleted = true;
  if (line.startsWith('GIT binary patch') || /^Binary files .* differ$/.test(line))
    throw new PatchError('the diff changes a binary file');
}

function filePatch(draft: Draft): FilePatch | undefined {
  if (draft.old === undefined || draft.new === undefined) {
    if (draft.hunks.length === 0) return undefined;
    throw new PatchError('a hunk belongs to no file that could be read');
  }
  const [old, now] = [patchPath(draft.old), patchPath(draft.new)];
  const none = '/dev/null';
  const prefixed =
    (old === none || old.startsWith('a/')) && (now === none || now.startsWith('b/')) && old !== now;
  const plain = (path: string): string => (prefixed ? path.slice(2) : path).replace(/^(?:\.\/)+/, '');
  const from = old === none || draft.created ? undefined : plain(old);
  const to = now === none || draft.deleted ? undefined : plain(now);
  return { from, to, copy: draft.copy, hunks: draft.hunks };
}

/** The hunk whose header is at `at`, and the index of the line after it. */
function readHunk(lines: readonly string[], at: number): { hunk: Hunk; end: number } {
  const header = HUNK_HEADER.exec(lines[at]!);
  if (header === null) throw new PatchError(`not a hunk header: ${lines[at]!.slice(0, 80)}`);
  const [oldStart, oldCount, newCount] = [Number(header[1]), countOf(header[2]), countOf(header[4])];
  const counted = countedEnd(lines, at + 1, oldCount, newCount);
  const end = counted ?? looseEnd(lines, at + 1);
  const body = lines.slice(at + 1, end).flatMap((line): HunkLine[] => {
    if (line.startsWith('\\')) return [];
    return [{ kind: line === '' ? ' ' : (line[0] as HunkLine['kind']), text: line.slice(1) }];
  });
  if (body.length === 0) throw new PatchError(`a hunk without lines: ${lines[at]!.slice(0, 80)}`);
  return { hunk: { oldStart, oldCount, lines: body, counted: counted !== undefined }, end };
}

const countOf = (digits: string | undefined): number => (digits === undefined ? 1 : Number(digits));

/** Models and editors strip the one blank of an empty context line. */
const isBody = (line: string): boolean => line === '' || /^[ +\-\\]/.test(line);

/** Where the hunk ends if its counts hold: they are used up exactly, and no line of a body follows. */
function countedEnd(
  lines: readonly string[],
  from: number,
  oldCount: number,
  newCount: number,
): number | undefined {
  let [old, now, at] = [oldCount, newCount, from];
  while (old > 0 || now > 0 || (lines[at] ?? '').startsWith('\\')) {
    const line = lines[at];
    if (line === undefined || !isBody(line)) return undefined;
    if (line === '' || line.startsWith(' ')) [old, now] = [old - 1, now - 1];
    else if (line.startsWith('-')) old -= 1;
    else if (line.startsWith('+')) now -= 1;
    if (old < 0 || now < 0) return undefined;
    at += 1;
  }
  const next = lines[at] ?? '';
  const goesOn = /^[ +\-]/.test(next) && !isFileHeader(lines, at) && next !== '-- ';
  return goesOn ? undefined : at;
}

/** Where the counts are wrong: as far as the lines look like a body; blank lines at its end are none of it. */
function looseEnd(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && isBody(lines[at]!) && !isFileHeader(lines, at)) at += 1;
  while (at > from && lines[at - 1] === '') at -= 1;
  return at;
}

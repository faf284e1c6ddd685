// Finds the program in a response: the last fenced block in the grader's language, else the last one that names no language,
// else all of the text, which the grader takes for a program only where it parses.
import type { CodeLanguage } from '../../../api/contract/grader.ts';

export interface AnswerCode {
  readonly code: string;
  readonly fenced: boolean;
}

interface FencedBlock {
  readonly language: string;
  readonly code: string;
}

const labels: Readonly<Record<CodeLanguage, readonly string[]>> = {
  python: ['python', 'python3', 'py', 'py3'],
  javascript: ['javascript', 'js', 'node', 'nodejs', 'mjs', 'cjs', 'jsx'],
  typescript: ['typescript', 'ts', 'tsx', 'mts', 'cts'],
};

/** Info strings have no backtick (CommonMark 4.5). Two simple patterns: a line of nothing but fences must not cost its square. */
const fenceStart = /^ {0,3}(`{3,}|~{3,})/;
const infoLanguage = /^[ \t]*([^\s{]*)/;

interface OpenBlock {
  readonly fence: string;
  readonly language: string;
  readonly lines: string[];
}

function openedBy(line: string): OpenBlock | undefined {
  const [start, fence] = fenceStart.exec(line) ?? [];
  if (start === undefined || fence === undefined) return undefined;
  const info = line.slice(start.length);
  if (info.includes('`')) return undefined;
  return { fence, language: (infoLanguage.exec(info)?.[1] ?? '').toLowerCase(), lines: [] };
}

/** Blocks as Markdown has them; one that is not closed reaches to the end of the text. */
export function fencedBlocks(text: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: OpenBlock | undefined;
  const close = (): void => {
    if (open !== undefined) blocks.push({ language: open.language, code: open.lines.join('\n') });
    open = undefined;
  };
  for (const line of text.split(/\r\n|\n/)) {
    if (open === undefined) {
      open = openedBy(line);
    } else if (closes(line, open.fence)) close();
    else open.lines.push(line);
  }
  close();
  return blocks;
}

const closes = (line: string, fence: string): boolean => {
  const trimmed = line.trim();
  return trimmed.length >= fence.length && trimmed === fence.charAt(0).repeat(trimmed.length);
};

export function answerCode(text: string, language: CodeLanguage): AnswerCode | undefined {
  const blocks = fencedBlocks(text);
  const block =
    blocks.findLast((each) => labels[language].includes(each.language)) ??
    blocks.findLast((each) => each.language === '');
  if (block !== undefined) return block.code.trim() === '' ? undefined : { code: block.code, fenced: true };
  return text.trim() === '' || blocks.length > 0 ? undefined : { code: text, fenced: false };
}

// What a row's prompt contributes to the program: HumanEval's prompts are its beginning, up to the open function. And the
// reverse, the gold of such a row as a response.
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import { askedText } from '../../../api/contract/prompt-text.ts';
import type { CodeRow } from '../../../api/contract/task.ts';
import { fencedBlocks } from './answer-code.ts';

const definitions: Readonly<Record<CodeLanguage, (name: string) => RegExp>> = {
  python: (name) =>
    new RegExp(`^[ \\t]*(?:(?:async[ \\t]+)?def|class)[ \\t]+${name}\\b|^${name}[ \\t]*[:=]`, 'm'),
  javascript: (name) =>
    new RegExp(
      `\\b(?:function[ \\t]*\\*?|class|const|let|var)[ \\t]+${name}(?![\\w$])|(?<![\\w$.])${name}[ \\t]*=[^=]`,
    ),
  typescript: (name) => definitions.javascript(name),
};

/** Whether a program defines the function under test. `Solution().f` and `Solution.f` ask for `Solution`. */
export function definesEntry(code: string, entry: string, language: CodeLanguage): boolean {
  const name = /^[\p{L}\p{N}_$]+/u.exec(entry)?.[0];
  if (name === undefined) return false;
  const defines = (wanted: string): boolean =>
    definitions[language](wanted.replaceAll('$', '\\$')).test(code);
  return defines(name) || (language === 'python' && /^class Solution\b/m.test(code));
}

/** The part of the prompt that is a program up to the function under test; empty where there is none. */
export function promptCode(row: CodeRow, language: CodeLanguage): string {
  const entry = row.entry_point;
  if (entry === undefined) return '';
  const text = askedText(row.prompt);
  const blocks = fencedBlocks(text);
  const block = blocks.findLast((each) => definesEntry(each.code, entry, language));
  if (block !== undefined) return `${block.code}\n`;
  if (blocks.length > 0) return '';
  return definesEntry(text, entry, language) ? text : '';
}

/** The solution as a whole program in a fenced block. */
export function goldCode(row: CodeRow, language: CodeLanguage): string | undefined {
  if (row.solution === undefined) return undefined;
  const prefix = promptCode(row, language);
  const entry = row.entry_point ?? '';
  const code =
    prefix === '' || definesEntry(row.solution, entry, language) ? row.solution : prefix + row.solution;
  const fence = '`'.repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  return `${fence}${language}\n${code}\n${fence}`;
}

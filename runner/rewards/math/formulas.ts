// Typeset formulas of a text, between dollars or in brackets and environments of LaTeX.

export interface Found {
  readonly content: string;
  readonly start: number;
  readonly end: number;
}

/** Inline math with $ opens before no space and closes after none, or has space on both sides; else it is money. */
const formulaPattern =
  /\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]|\\\(([^\n]+?)\\\)|\\begin\{(?:equation|align|gather)\*?\}([\s\S]+?)\\end\{(?:equation|align|gather)\*?\}|\$(?=\S)([^$\n]*[^$\s])\$(?!\d)|\$ ([^$\n]*) \$/g;
const percentAfter = /^\s*(?:%|\\%|pct\b|per\s?cent\b)/;

export function formulas(text: string): Found[] {
  return [...text.matchAll(formulaPattern)].map((match) => {
    const end = match.index + match[0].length;
    const percent = percentAfter.test(text.slice(end, end + 12)) ? '%' : '';
    const content =
      match[4] === undefined ? match.slice(1).find((part) => part !== undefined)! : lastRow(match[4]);
    return { content: content + percent, start: match.index, end };
  });
}

const between = /^(?:,\s*|\s*,?\s+or\s+)$/;

/**
 * What the formula at `at` says, together with those that stand beside it with "or" between: "$1$, $2$ or $3$" is one
 * answer, not three to choose from.
 */
export function withAlternatives(text: string, found: readonly Found[], at: number): string | undefined {
  const gap = (index: number): string => text.slice(found[index]?.end, found[index + 1]?.start);
  const joins = (index: number): boolean =>
    index >= 0 && index + 1 < found.length && between.test(gap(index));
  let [first, last] = [at, at];
  while (joins(first - 1)) first--;
  while (joins(last)) last++;
  const chain = found.slice(first, last + 1);
  const choices = chain.slice(1).some((_, index) => gap(first + index).includes('or'));
  return choices ? chain.map(({ content }) => content).join(', ') : found[at]?.content;
}

/** Of an aligned derivation, what its last row says. */
const lastRow = (rows: string): string =>
  rows
    .trim()
    .replace(/\\\\$/, '')
    .split('\\\\')
    .at(-1)!
    .replace(/^\s*&?\s*=/, '')
    .replaceAll('&', '');

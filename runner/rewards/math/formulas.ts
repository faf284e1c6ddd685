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

/** Of an aligned derivation, what its last row says. */
const lastRow = (rows: string): string =>
  rows
    .trim()
    .replace(/\\\\$/, '')
    .split('\\\\')
    .at(-1)!
    .replace(/^\s*&?\s*=/, '')
    .replaceAll('&', '');

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
    return { content: match.slice(1).find((part) => part !== undefined)! + percent, start: match.index, end };
  });
}

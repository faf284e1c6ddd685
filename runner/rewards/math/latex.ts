// Brings the ways in which one answer is typeset to one spelling, without changing what it says.
// Only layout goes: spacing commands, \left and \right, text wrappers, \dfrac for \frac, braces left out, and the
// plain spelling of functions ("sqrt(2)"). What each sign means is decided by parse-answer.ts.
import { trimEnd } from '../trim-end.ts';

const maxLength = 2000;

/** Stands for the line break of a matrix. */
export const rowBreak = '⏎';
/** A comma that separates for certain: white space follows it, so it groups no thousands. */
export const listComma = '⸴';

const rewrites: readonly (readonly [RegExp, string])[] = [
  [/,\s*\\!\s*/g, ','],
  [/\\(?:left|right|bigl|bigr|Bigl|Bigr|big|Big|displaystyle|limits)(?![A-Za-z])/g, ''],
  // \quad is the start of no other command, and published golds hold "\quadx".
  [/\\(?:!|,|;|:|>| |qquad|quad)|~|\u00a0|\u202f/g, ' '],
  [/\\\$|\$|€|£/g, ''],
  [/\\(?:dfrac|tfrac|cfrac)(?![A-Za-z])/g, '\\frac'],
  [/\\(?:dbinom|tbinom)(?![A-Za-z])/g, '\\binom'],
  [/\*\*/g, '^'],
  [/\\(?:cdot|times|ast)(?![A-Za-z])|×|·|⋅/g, '*'],
  [/\\div(?![A-Za-z])|÷/g, '/'],
  [/\\(?:leqslant|leq|le)(?![A-Za-z])|<=|≤/g, '≤'],
  [/\\(?:geqslant|geq|ge)(?![A-Za-z])|>=|≥/g, '≥'],
  [/\\(?:neq|ne)(?![A-Za-z])|!=|≠/g, '≠'],
  [/\\approx(?![A-Za-z])|\\simeq(?![A-Za-z])/g, '≈'],
  [/\\lt(?![A-Za-z])/g, '<'],
  [/\\gt(?![A-Za-z])/g, '>'],
  [/\\(?:lvert|rvert|vert|mid)(?![A-Za-z])/g, '|'],
  [/\\colon(?![A-Za-z])/g, ':'],
  [/\\pm(?![A-Za-z])/g, '±'],
  [/\\mp(?![A-Za-z])/g, '∓'],
  [/\\pi(?![A-Za-z])|(?<![\\A-Za-z])pi(?![A-Za-z])/g, 'π'],
  [/\\infty(?![A-Za-z])/g, '∞'],
  [/\\cup(?![A-Za-z])/g, '∪'],
  [/\\in(?![A-Za-z])/g, '∈'],
  [/\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))|\\degree(?![A-Za-z])/g, '°'],
  [/\\%|\bper\s?cent\b|\bpct\b/g, '%'],
  [/²/g, '^2'],
  [/³/g, '^3'],
  [/−|–/g, '-'],
  [/√\s*(\d+(?:\.\d+)?)/g, '\\sqrt{$1}'],
  [/√/g, '\\sqrt'],
  [/\\lbrack(?![A-Za-z])/g, '['],
  [/\\rbrack(?![A-Za-z])/g, ']'],
  [/\\varnothing(?![A-Za-z])|\\\{\s*\\\}/g, '\\emptyset'],
  [/\\dot\s*\{(\d)\}\s*$/g, '\\overline{$1}'],
  [/(?<=\.\d*)\\bar\s*(?:\{(\d+)\}|(\d))/g, '\\overline{$1$2}'],
  [/\\[{]|\\lbrace(?![A-Za-z])/g, '⦃'],
  [/\\[}]|\\rbrace(?![A-Za-z])/g, '⦄'],
  [/(?<![\\A-Za-z])(?=(?:sqrt|sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|ln|log|exp)(?![A-Za-z]))/g, '\\'],
];

const textWrapper =
  /\\(?:text|textbf|textit|textrm|textsf|mathrm|mathbf|mathsf|mathit|mbox|operatorname|boldsymbol)\s*\{([^{}]*)\}/g;

/** Row breaks of matrices get a sign of their own; elsewhere "\\frac" is \frac with its backslash escaped twice. */
function tellBackslashes(source: string): string {
  return source
    .split(/(\\+begin\s*\{[a-z]*(?:matrix|array)\}[\s\S]*?\\+end\s*\{[a-z]*(?:matrix|array)\})/)
    .map((part, at) =>
      at % 2 === 1
        ? part.replace(/\\\\(?!(?:begin|end)\s*\{)(?:\[[^\]]*\])?/g, rowBreak)
        : part.replace(/\\\\(?=[A-Za-z])/g, '\\'),
    )
    .join('');
}

/** \frac12, \frac{1}2, \frac1{2} and \sqrt3 with all their braces. */
function fillBraces(text: string): string {
  return text
    .replace(/\\frac\s*([0-9A-Za-z])/g, '\\frac{$1}')
    .replace(/\\frac\s*(\{[^{}]*\})\s*([0-9A-Za-z])/g, '\\frac$1{$2}')
    .replace(/\\sqrt\s*([0-9A-Za-z])/g, '\\sqrt{$1}');
}

/** "\sqrt(…)" and "x^(…)", as plain text writes them, with braces. */
function braceArguments(text: string): string {
  let result = text;
  for (let at = 0; at >= 0;) {
    const open = /(?:\\sqrt|\^)\s*\(/.exec(result.slice(at));
    if (open === null) return result;
    const start = at + open.index + open[0].length;
    const end = closing(result, start);
    if (end === undefined) return result;
    result = `${result.slice(0, start - 1)}{${result.slice(start, end)}}${result.slice(end + 1)}`;
    at = start;
  }
  return result;
}

function closing(text: string, start: number): number | undefined {
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return at;
  }
  return undefined;
}

/**
 * One spelling of a typeset answer. White space stays between two digits, where leaving it out would make another
 * number, and between two letters. Undefined for what is too long to be an answer.
 */
export function normaliseLatex(source: string): string | undefined {
  if (source.length > maxLength) return undefined;
  let text = tellBackslashes(trimEnd(source.trim().replace(/^[*_`]+/, ''), /[*_`]/));
  text = text.replace(textWrapper, ' $1 ');
  for (const [pattern, replacement] of rewrites) text = text.replace(pattern, replacement);
  text = braceArguments(fillBraces(text))
    .replace(/\s+/g, ' ')
    .replace(/_([0-9A-Za-z]) (?=[0-9])/g, '_{$1}')
    .replace(/(\d), (?=\d)/g, `$1${listComma}`)
    .replace(/(?<![0-9]) (?=[0-9])|(?<=[0-9]) (?![0-9])/g, '')
    .replace(/(?<![A-Za-z0-9]) | (?![A-Za-z0-9])/g, '')
    .replace(/\{,\}/g, ',')
    .replace(/_\{([A-Za-z0-9])\}/g, '_$1')
    .replace(/\+∞/g, '∞')
    .replace(/[.;:,]+$/, '');
  return text.trim();
}

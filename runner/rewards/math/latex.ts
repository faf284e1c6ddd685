// Brings the ways in which one answer is typeset to one spelling, without changing what it says.
// Only layout goes: spacing commands, \left and \right, text wrappers, \dfrac for \frac, braces left out.

const maxLength = 2000;

const rewrites: readonly (readonly [RegExp, string])[] = [
  [/\\(?:left|right|bigl|bigr|Bigl|Bigr|big|Big|displaystyle|limits)(?![A-Za-z])/g, ''],
  [/\\(?:!|,|;|:|>| |quad(?![A-Za-z])|qquad(?![A-Za-z]))|~|\u00a0|\u202f/g, ' '],
  [/\\\$|\$|€|£/g, ''],
  [/\\(?:dfrac|tfrac|cfrac)(?![A-Za-z])/g, '\\frac'],
  [/\\(?:cdot|times|ast)(?![A-Za-z])|×|·|⋅/g, '*'],
  [/\\div(?![A-Za-z])|÷/g, '/'],
  [/\\(?:leq|le|leqslant)(?![A-Za-z])|<=|≤/g, '≤'],
  [/\\(?:geq|ge|geqslant)(?![A-Za-z])|>=|≥/g, '≥'],
  [/\\(?:neq|ne)(?![A-Za-z])|!=|≠/g, '≠'],
  [/\\lt(?![A-Za-z])/g, '<'],
  [/\\gt(?![A-Za-z])/g, '>'],
  [/\\pm(?![A-Za-z])/g, '±'],
  [/\\pi(?![A-Za-z])/g, 'π'],
  [/\\infty(?![A-Za-z])/g, '∞'],
  [/\\cup(?![A-Za-z])/g, '∪'],
  [/\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))|\\degree(?![A-Za-z])/g, '°'],
  [/\\%|\bper\s?cent\b|\bpct\b/g, '%'],
  [/−|–/g, '-'],
  [/\\[{]/g, '⦃'],
  [/\\[}]/g, '⦄'],
];

const textWrapper =
  /\\(?:text|textbf|textit|textrm|textsf|mathrm|mathbf|mathsf|mathit|mbox|operatorname)\s*\{([^{}]*)\}/g;

/** \frac12, \frac{1}2, \frac1{2} and \sqrt3 with all their braces. */
function fillBraces(text: string): string {
  return text
    .replace(/\\frac\s*([0-9A-Za-z])/g, '\\frac{$1}')
    .replace(/\\frac\s*(\{[^{}]*\})\s*([0-9A-Za-z])/g, '\\frac$1{$2}')
    .replace(/\\sqrt\s*([0-9A-Za-z])/g, '\\sqrt{$1}');
}

/**
 * One spelling of a typeset answer. White space stays between two digits, where leaving it out would make another
 * number, and between two letters. Undefined for what is too long to be an answer.
 */
export function normaliseLatex(source: string): string | undefined {
  if (source.length > maxLength) return undefined;
  let text = source.replace(textWrapper, ' $1 ');
  for (const [pattern, replacement] of rewrites) text = text.replace(pattern, replacement);
  text = fillBraces(text)
    .replace(/\s+/g, ' ')
    .replace(/(?<![0-9]) (?=[0-9])|(?<=[0-9]) (?![0-9])/g, '')
    .replace(/(?<![A-Za-z0-9]) | (?![A-Za-z0-9])/g, '')
    .replace(/\{,\}/g, ',')
    .replace(/[.;:,]+$/, '');
  return text.trim();
}

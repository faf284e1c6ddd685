// What comparing needs of algebra, and the two answers to it that cost nothing. The one that computes is symbolic.ts,
// which runs in a worker only. Texts are normalised LaTeX.
import type { RelationValue } from './value.ts';

export interface Algebra {
  readonly sameExpression: (gold: string, given: string) => boolean;
  /** Whether two equations, or two inequalities, have the same solutions because one is a multiple of the other. */
  readonly sameRelation: (gold: RelationValue, given: RelationValue) => boolean;
}

/** Equal texts only. */
export const noAlgebra: Algebra = {
  sameExpression: (gold, given) => gold === given,
  sameRelation: (gold, given) =>
    gold.operator === given.operator && gold.left === given.left && gold.right === given.right,
};

/** Whether algebra could say "equal" at all: what it could not is not worth a worker's time. */
export const anyAlgebra: Algebra = {
  sameExpression: (gold, given) => gold === given || (isFormula(gold) && isFormula(given)),
  sameRelation: (gold, given) => gold.operator === given.operator,
};

/** Names of functions that are spelled out after a backslash. */
const command = /\\[A-Za-z]+/g;

/**
 * Whether a text may be read as a formula. Words are not: letters would become a product, in which their order is
 * lost ("AB", "BA"). Neither are numbers written in a base, digits raised without braces (2^10 is typeset as 2^1 0), mixed
 * numbers inside a formula, and what the engine's parser skips or completes by itself: comments of LaTeX (%), dots for
 * what is left out, marks of writing direction.
 */
export function isFormula(text: string): boolean {
  const letters = text.replace(command, ' ');
  if (!/[A-Za-z0-9π]/.test(text) || /[A-Z]{2}|[A-Za-z]{4}/.test(letters)) return false;
  if (/^[A-Za-z]{2,}$/.test(text)) return false;
  if (/[%#…]|\.\.|\\[a-z]*dots|\p{Cf}/u.test(text)) return false;
  return !/\d_|\^\d\d|\d \d|\d\\frac\{\d+\}\{\d+\}|[=<>≤≥≠≈±∓∪∈,;⸴⏎&?]/.test(text);
}

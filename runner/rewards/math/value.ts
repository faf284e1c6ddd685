// What an answer says, as a value. `symbol` is x in "x = 5" and "x \in [0, 1]": a name that may be left out.
import type { Rational } from './rational.ts';

export type Brackets =
  | '()'
  | '[]'
  | '(]'
  | '[)'
  /** \{…\}: order and repetition say nothing. */
  | 'set'
  /** Answers between commas or "and" without brackets: order says nothing. */
  | 'list'
  /** Rows of a matrix, each a '()' of its cells. */
  | 'matrix'
  /** a:b */
  | 'ratio'
  | 'union';

export interface NumberValue {
  readonly kind: 'number';
  readonly value: Rational;
  readonly unit: string;
  readonly text: string;
}

/** A formula that is no number by itself; equal to another where algebra says so. */
export interface ExpressionValue {
  readonly kind: 'expression';
  readonly text: string;
  readonly unit: string;
}

export interface CollectionValue {
  readonly kind: 'collection';
  readonly brackets: Brackets;
  readonly items: readonly Value[];
}

/** An equation, or an inequality whose smaller side comes first. */
export interface RelationValue {
  readonly kind: 'relation';
  readonly operator: '=' | '<' | '≤' | '≠';
  readonly left: string;
  readonly right: string;
}

/** Words, and whatever is not understood: equal to the same text only. */
export interface TextValue {
  readonly kind: 'text';
  readonly text: string;
}

export type Value = (NumberValue | ExpressionValue | CollectionValue | RelationValue | TextValue) & {
  readonly symbol?: string;
};

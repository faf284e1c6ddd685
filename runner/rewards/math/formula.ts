// A formula as the compute engine reads it, in MathJSON, with only what we know the meaning of. What the parser would
// guess at (a product or a call, a unit, a set) makes the whole undefined: not understood, so not equal.
import type { ComputeEngine } from '@cortex-js/compute-engine';

export type Node = number | string | { readonly num: string } | readonly [string, ...Node[]];

export interface Formula {
  readonly node: Node;
  /** Variables, and calls of unknown functions, each under the name it has in `node`. */
  readonly variables: readonly string[];
}

const operators: ReadonlySet<string> = new Set(
  (
    'Add Subtract Negate Multiply Divide Rational Power Sqrt Root Square Factorial Factorial2 Binomial Abs Floor Ceil ' +
    'Ln Lb Log Exp Degrees Sin Cos Tan Cot Sec Csc Arcsin Arccos Arctan Arccot Sinh Cosh Tanh Delimiter'
  ).split(' '),
);
const inverses: Readonly<Record<string, string>> = { Sin: 'Arcsin', Cos: 'Arccos', Tan: 'Arctan' };
const imaginaryUnit = 'ImaginaryUnit';
const constants: Readonly<Record<string, Node>> = {
  Pi: 'Pi',
  e: 'ExponentialE',
  ExponentialE: 'ExponentialE',
  i: imaginaryUnit,
  ImaginaryUnit: imaginaryUnit,
};
const binomials: ReadonlySet<string> = new Set(['Binomial', 'Choose']);
const greek =
  'alpha|beta|gamma|delta|epsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|chi|psi|omega';
const variable = new RegExp(`^(?:[A-Za-z]|${greek}|[A-Z][a-z]+)(?:_[A-Za-z0-9]+)?$`);
const unknownFunction = /^[A-Za-z](?:_[A-Za-z0-9]+)?$/;
const maxNodes = 2000;

export function readFormula(ce: ComputeEngine, text: string): Formula | undefined {
  const raw = ce.parse(asLatex(text), { form: 'raw' }).json as Node;
  const reading = { variables: new Map<string, string>(), nodes: 0 };
  const node = read(raw, reading);
  return node === undefined ? undefined : { node, variables: [...reading.variables.values()] };
}

const asLatex = (text: string): string =>
  text
    .replace(/\*/g, '\\cdot ')
    .replace(/_([A-Za-z0-9])/g, '_{$1}')
    .replace(/π/g, '\\pi ')
    .replace(/(\\[A-Za-z]+)(?=[0-9])/g, '$1 ')
    .replace(/\|([^|]+)\|/g, '\\left|$1\\right|');

interface Reading {
  readonly variables: Map<string, string>;
  nodes: number;
}

function read(raw: Node, reading: Reading): Node | undefined {
  if (++reading.nodes > maxNodes) return undefined;
  if (typeof raw === 'number') return raw;
  if (typeof raw === 'string') return constants[raw] ?? symbol(raw, reading);
  if ('num' in raw) return /^-?[0-9.]+$/.test(raw.num) ? raw : undefined;
  const [head, ...operands] = raw;
  if (head === 'Apply') return inverseFunction(operands, reading);
  if (unknownFunction.test(head)) return symbol(JSON.stringify(raw), reading);
  if (head === 'Delimiter') return operands.length === 1 ? read(operands[0]!, reading) : undefined;
  if (head === 'InvisibleOperator') return product(operands, reading);
  const operator = binomials.has(head) ? 'Binomial' : head;
  if (!operators.has(operator)) return undefined;
  return withOperands(operator, operands, reading);
}

/** Letters that name functions in front of a bracket: f(x + 1) is not f x + f. Other letters are factors: n(n + 1). */
const functionLetter = /^[fghFGHPQ](?:_[A-Za-z0-9]+)?$/;
/** p(1 - p) is a product, p(x) is not. */
const polynomialLetter = /^[pqrRST](?:_[A-Za-z0-9]+)?$/;
const argument = /"[xyzt]"/;

/** Juxtaposed factors, of which two may be a function and its argument. */
function product(factors: readonly Node[], reading: Reading): Node | undefined {
  const known: Node[] = [];
  for (let at = 0; at < factors.length; at++) {
    const called = isCall(factors[at]!, factors[at + 1]);
    if (called === 'unclear') return undefined;
    const factor = called
      ? symbol(JSON.stringify(factors.slice(at, at + 2)), reading)
      : read(factors[at]!, reading);
    if (factor === undefined) return undefined;
    known.push(factor);
    if (called) at++;
  }
  return ['Multiply', ...known];
}

/** f^{-1}(x) and f^2(x) are unclear. */
function isCall(factor: Node, next: Node | undefined): boolean | 'unclear' {
  if (typeof next !== 'object' || 'num' in next || next[0] !== 'Delimiter') return false;
  const names = (node: Node | undefined): boolean =>
    typeof node === 'string' &&
    (functionLetter.test(node) || (polynomialLetter.test(node) && argument.test(JSON.stringify(next))));
  if (names(factor)) return true;
  return (
    typeof factor === 'object' && !('num' in factor) && factor[0] === 'Power' && names(factor[1]) && 'unclear'
  );
}

function withOperands(head: string, operands: readonly Node[], reading: Reading): Node | undefined {
  const known: Node[] = [];
  for (const operand of operands) {
    const node = read(operand, reading);
    if (node === undefined) return undefined;
    known.push(node);
  }
  return known.length === 0 ? undefined : [head, ...known];
}

/** \tan^{-1} x */
function inverseFunction([fn, ...operands]: readonly Node[], reading: Reading): Node | undefined {
  if (typeof fn !== 'object' || 'num' in fn || fn[0] !== 'InverseFunction') return undefined;
  const inverse = inverses[String(fn[1])];
  return inverse === undefined ? undefined : withOperands(inverse, operands, reading);
}

/** The key of a call is its text, so f(x) and f(y) are two unknowns. */
function symbol(key: string, { variables }: Reading): string | undefined {
  if (key.startsWith('[') ? key.length > 200 : !variable.test(key)) return undefined;
  if (!variables.has(key)) variables.set(key, key);
  return key;
}

/** Whether a formula is about complex numbers. */
export function isComplex(node: Node): boolean {
  if (typeof node !== 'object') return node === imaginaryUnit;
  return !('num' in node) && node.some(isComplex);
}

/** The formula with a number in place of every variable. */
export function substitute(node: Node, values: ReadonlyMap<string, Node>): Node {
  if (typeof node === 'string') return values.get(node) ?? node;
  if (typeof node === 'number' || 'num' in node) return node;
  const [head, ...operands] = node;
  return [head, ...operands.map((operand) => substitute(operand, values))];
}

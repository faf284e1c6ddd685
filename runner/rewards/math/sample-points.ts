// Where formulas with variables are compared: fixed points of twenty-five random digits, of either sign, so that two
// formulas which agree there are the same function (an analytic function that is not zero has no reason to vanish
// there), and |x| is not x. Formulas with factorials are compared at integers. What is put together of pieces (|x - 3|,
// a rounded number, a root) may agree on one piece only: far points look for another.
import type { Formula, Node } from './formula.ts';

export type Point = ReadonlyMap<string, Node>;

/** Signs of the variables, by position: at each point. */
const signs: readonly ((variable: number) => 1 | -1)[] = [
  () => 1,
  () => 1,
  (variable) => (variable % 2 === 0 ? 1 : -1),
  (variable) => (variable % 2 === 0 ? -1 : 1),
  () => -1,
];
const integers = [5n, 8n, 11n, 14n, 7n, 18n];
/** Numbers of an answer, where pieces meet, are mostly smaller than the last of them. */
const scales = [7, 43, 1009, 30_011];

/** One point without variables where the formulas have none. */
export function pointsFor(formulas: readonly Formula[]): readonly Point[] {
  const names = [...new Set(formulas.flatMap(({ variables }) => variables))].sort();
  if (names.length === 0) return [new Map()];
  if (formulas.some(({ node }) => holds(node, factorials)))
    return integers.map(
      (_, point) =>
        new Map(names.map((name, at) => [name, Number(integers[(point + 2 * at) % integers.length]!)])),
    );
  return signs.map(
    (sign, point) => new Map(names.map((name, at) => [name, { num: decimal(point, at, sign(at)) }])),
  );
}

const factorials: ReadonlySet<unknown> = new Set(['Factorial', 'Factorial2', 'Binomial']);
const rounded: ReadonlySet<unknown> = new Set(['Floor', 'Ceil']);
const pieced: ReadonlySet<unknown> = new Set([
  ...['Abs', 'Floor', 'Ceil', 'Sqrt', 'Root', 'Ln', 'Log', 'Lb'],
  ...['Arcsin', 'Arccos', 'Arctan', 'Arccot'],
]);

function holds(node: Node, heads: ReadonlySet<unknown>): boolean {
  if (typeof node !== 'object' || 'num' in node) return false;
  const [head, ...operands] = node;
  return heads.has(head) || operands.some((operand) => holds(operand, heads));
}

/** x^{1/2}; neither x^2 nor e^x. */
function holdsRoot(node: Node): boolean {
  if (typeof node !== 'object' || 'num' in node) return false;
  const [head, ...operands] = node;
  const exponent = head === 'Power' ? operands[1] : undefined;
  return (
    (exponent !== undefined && /"(?:Divide|Rational)"|\./.test(JSON.stringify(exponent))) ||
    operands.some(holdsRoot)
  );
}

/**
 * Where two formulas that agree at `pointsFor` may still turn out different; that one of them has no value here says
 * nothing. None for formulas of one piece.
 */
export function farPointsFor(formulas: readonly Formula[]): readonly Point[] {
  const names = [...new Set(formulas.flatMap(({ variables }) => variables))].sort();
  const any = (heads: ReadonlySet<unknown>): boolean => formulas.some(({ node }) => holds(node, heads));
  if (names.length === 0 || any(factorials)) return [];
  if (!any(pieced) && !formulas.some(({ node }) => holdsRoot(node))) return [];
  const far = scales.flatMap((_, at) => [farPoint(names, at, 1), farPoint(names, at, -1)]);
  const whole = any(rounded) ? [-2, 0, 3] : [];
  return [...far, ...whole.map((first) => new Map(names.map((name, at) => [name, first + at])))];
}

const farPoint = (names: readonly string[], at: number, sign: 1 | -1): Point =>
  new Map(
    names.map((name, variable) => [
      name,
      [
        'Multiply',
        scales[(at + variable) % scales.length]!,
        { num: decimal(signs.length + at, variable, variable % 2 === 0 ? sign : 1) },
      ],
    ]),
  );

/** Between 0.3 and 2.3. */
function decimal(point: number, variable: number, sign: 1 | -1): string {
  let state = BigInt(point * 1000 + variable + 1);
  let text = '';
  for (let block = 0; block < 5; block++) {
    state = (state * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n;
    text += String((state >> 33n) % 100_000n).padStart(5, '0');
  }
  const whole = Number(state >> 60n) % 2;
  const first = whole === 0 ? 3 + (Number(state >> 50n) % 7) : Number(state >> 50n) % 10;
  return `${sign < 0 ? '-' : ''}${whole}.${first}${text}`;
}

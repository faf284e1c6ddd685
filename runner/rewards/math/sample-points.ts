// Where formulas with variables are compared: fixed points of twenty-five random digits, of either sign, so that two
// formulas which agree there are the same function (an analytic function that is not zero has no reason to vanish
// there), and |x| is not x. Formulas with factorials are compared at integers.
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

/** One point without variables where the formulas have none. */
export function pointsFor(formulas: readonly Formula[]): readonly Point[] {
  const names = [...new Set(formulas.flatMap(({ variables }) => variables))].sort();
  if (names.length === 0) return [new Map()];
  if (formulas.some(({ node }) => counts(node)))
    return integers.map(
      (_, point) =>
        new Map(names.map((name, at) => [name, Number(integers[(point + 2 * at) % integers.length]!)])),
    );
  return signs.map(
    (sign, point) => new Map(names.map((name, at) => [name, { num: decimal(point, at, sign(at)) }])),
  );
}

const factorials: ReadonlySet<unknown> = new Set(['Factorial', 'Factorial2', 'Binomial']);

function counts(node: Node): boolean {
  if (typeof node !== 'object' || 'num' in node) return false;
  const [head, ...operands] = node;
  return factorials.has(head) || operands.some(counts);
}

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

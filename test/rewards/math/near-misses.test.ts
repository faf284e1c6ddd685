// No near miss of any gold passes: one sign, digit, bracket, item, exponent or term is changed. The same generator gives
// equal spellings of formulas, so that a verifier which refuses everything fails too.
import { describe, expect, it } from 'vitest';
import { noTestData, testDataDir } from '../../support/test-data.ts';
import { mutations } from './mutations.ts';
import { aime, allGsm8k, amc, math500 } from './rows.ts';
import { valueOf } from './verify.ts';

const nearMisses = (golds: readonly string[]): { gold: string; miss: string; by: string }[] =>
  golds.flatMap((gold) =>
    Object.entries(mutations).flatMap(([by, mutate]) => {
      const miss = mutate(gold);
      return miss === undefined ? [] : [{ gold, miss, by }];
    }),
  );

async function passed(pairs: readonly { gold: string; miss: string; by: string }[]): Promise<string[]> {
  const values = await Promise.all(pairs.map(({ gold, miss }) => valueOf(gold, `\\boxed{${miss}}`)));
  return pairs.filter((_, at) => values[at] !== 0).map(({ gold, miss, by }) => `${by}: ${gold} ~ ${miss}`);
}

describe.skipIf(testDataDir === undefined)(`of the shared golds (${noTestData} otherwise)`, () => {
  const distinct = (rows: readonly { gold: string }[]) => [...new Set(rows.map(({ gold }) => gold))];

  it('MATH-500, AIME and AMC', async () => {
    const pairs = nearMisses(distinct([...math500(), ...aime(), ...amc()]));
    expect(pairs.length).toBeGreaterThan(2_000);
    expect(new Set(pairs.map(({ by }) => by))).toEqual(new Set(Object.keys(mutations)));
    expect(await passed(pairs)).toEqual([]);
  });

  it('GSM8K, numbers only', async () => {
    const pairs = nearMisses(distinct(allGsm8k().slice(0, 400)));
    expect(pairs.length).toBeGreaterThan(500);
    expect(await passed(pairs)).toEqual([]);
  });
});

/** Small integers from a fixed seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return 1 + (Math.floor(state / 2 ** 12) % sides);
  };
}

interface Generated {
  readonly gold: string;
  readonly equal: string;
  readonly misses: readonly string[];
}

const kinds: readonly ((roll: (sides: number) => number) => Generated)[] = [
  (roll) => {
    const [a, b, c] = [roll(9) + 1, roll(9), roll(9)];
    return {
      gold: `${a}x^2 + ${b}x - ${c}`,
      equal: `-${c} + x(${a}x + ${b})`,
      misses: [
        `${a}x^2 + ${b}x + ${c}`,
        `${a}x^3 + ${b}x - ${c}`,
        `${a}x^2 + ${b}x`,
        `${a}x^2 + ${b + 1}x - ${c}`,
        `${a}y^2 + ${b}y - ${c}`,
      ],
    };
  },
  (roll) => {
    const [a, b] = [roll(9), roll(9)];
    return {
      gold: `(x + ${a})(x - ${b})`,
      equal: `x^2 + ${a}x - ${b}x - ${a * b}`,
      misses: [
        `(x + ${a})(x + ${b})`,
        `(x + ${a})`,
        `(x - ${a})(x + ${b + 1})`,
        `x^2 - ${a * b}`.replace(a === b ? /$/ : /^$/, ' + 1'),
      ],
    };
  },
  (roll) => {
    const [a, b, n] = [roll(20), roll(9) + 1, [2, 3, 5, 6, 7, 10][roll(6) - 1]!];
    return {
      gold: `${a} + ${b}\\sqrt{${n}}`,
      equal: `\\sqrt{${b * b * n}} + ${a}`,
      misses: [
        `${a} - ${b}\\sqrt{${n}}`,
        `${a} + ${b}\\sqrt{${n + 4}}`,
        `${a} + ${b}\\sqrt[3]{${n}}`,
        `${a + b}\\sqrt{${n}}`,
        `${b}\\sqrt{${n}}`,
        (a + b * Math.sqrt(n)).toFixed(6),
      ],
    };
  },
  (roll) => {
    const [a, b] = [roll(9), roll(9) + 1];
    return {
      gold: `\\frac{${a}\\pi}{${b}}`,
      equal: `\\frac{${a}}{${b}} \\pi`,
      misses: [
        `-\\frac{${a}\\pi}{${b}}`,
        `\\frac{${a}\\pi}{${b + 1}}`,
        `\\frac{${a}}{${b}}`,
        `\\frac{${a}}{${b}\\pi}`,
        `\\frac{${a}\\pi^2}{${b}}`,
      ],
    };
  },
  (roll) => {
    const [a, b, c] = [roll(9), roll(9) + 1, roll(20)];
    return {
      gold: `${a}x + ${b}y = ${c}`,
      equal: `${c * 3} = ${a * 3}x + ${b * 3}y`,
      misses: [
        `${a}x - ${b}y = ${c}`,
        `${a}x + ${b}y = ${c + 1}`,
        `${a}x + ${b}y = -${c}`,
        `${a}x + ${b}y`,
        `${c}`,
        `${a}x + ${b}y < ${c}`,
      ],
    };
  },
  (roll) => {
    const [a, b] = [roll(9), roll(9) + 10];
    return {
      gold: `${a} \\le x < ${b}`,
      equal: `x \\in [${a}, ${b})`,
      misses: [
        `${a} < x < ${b}`,
        `${a} \\le x \\le ${b}`,
        `${a} \\le x`,
        `x < ${b}`,
        `(${a}, ${b})`,
        `[${a}, ${b}]`,
        `-${a} \\le x < ${b}`,
        `\\{${a}, ${b}\\}`,
      ],
    };
  },
  (roll) => {
    const [a, b, c] = [roll(9), roll(9) + 10, roll(9) + 20];
    return {
      gold: `\\{${a}, ${b}, ${c}\\}`,
      equal: `${c}, ${a} \\text{ and } ${b}`,
      misses: [
        `\\{${a}, ${b}\\}`,
        `\\{${a}, ${b}, ${c}, ${c + 1}\\}`,
        `(${a}, ${b}, ${c})`,
        `${a}, ${b}, ${-c}`,
        `${a}${b}${c}`,
      ],
    };
  },
  (roll) => {
    const [a, b, c, d] = [roll(9), roll(9) + 10, roll(9) + 20, roll(9) + 30];
    const matrix = (cells: readonly number[]): string =>
      `\\begin{pmatrix} ${cells[0]!} & ${cells[1]!} \\\\ ${cells[2]!} & ${cells[3]!} \\end{pmatrix}`;
    return {
      gold: matrix([a, b, c, d]),
      equal: matrix([a, b, c, d]).replaceAll('pmatrix', 'bmatrix').replaceAll(' ', ''),
      misses: [
        matrix([a, c, b, d]),
        matrix([b, a, c, d]),
        matrix([a, b, c, -d]),
        `(${a}, ${b}, ${c}, ${d})`,
        `\\begin{pmatrix} ${a} & ${b} \\end{pmatrix}`,
      ],
    };
  },
];

it('of 160 generated answers, while their equal spellings pass', async () => {
  const roll = dice(20_26);
  const made = Array.from({ length: 160 }, (_, at) => kinds[at % kinds.length]!(roll));
  const refused = await Promise.all(
    made.map(async ({ gold, equal }) =>
      (await valueOf(gold, `\\boxed{${equal}}`)) === 1 ? [] : [`${gold} / ${equal}`],
    ),
  );
  expect(refused.flat()).toEqual([]);
  const pairs = made.flatMap(({ gold, misses }) => misses.map((miss) => ({ gold, miss, by: 'generated' })));
  expect(pairs.length).toBeGreaterThan(800);
  expect(await passed(pairs)).toEqual([]);
});

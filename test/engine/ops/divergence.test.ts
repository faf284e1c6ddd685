// Divergences against vectors worked out by hand, in float64: student p = (1/2, 1/4, 1/4), teacher q = (1/8, 1/8, 3/4), their
// logits being logarithms, which a softmax gives back.
import { afterAll, describe, expect, test } from 'vitest';
import { gradients } from '../../../runner/engine/graph/grad.ts';
import { Graph } from '../../../runner/engine/graph/graph.ts';
import { divergence } from '../../../runner/engine/ops/divergence.ts';
import type { DivergenceOptions } from '../../../runner/engine/ops/divergence.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import { evaluate } from '../graph/compiled-graph.ts';

const runtime = createRuntime({ threads: 2 });
afterAll(() => runtime[Symbol.dispose]());

const [ln2, ln3] = [Math.log(2), Math.log(3)];
const [p, q] = [
  [1 / 2, 1 / 4, 1 / 4],
  [1 / 8, 1 / 8, 3 / 4],
];

interface Case extends DivergenceOptions {
  readonly distance: number;
  /** By the student's logits, at temperature 1. */
  readonly slopes: readonly number[];
}

/** beta times KL(q || m) and (1 - beta) times KL(p || m), and the slopes (1 - beta) p (log(p / m) - KL(p || m)). */
function jensenShannon(beta: number, ofTeacher: number, ofStudent: number, pOverM: readonly number[]): Case {
  return {
    beta,
    distance: beta * ofTeacher + (1 - beta) * ofStudent,
    slopes: p.map((pi, i) => (1 - beta) * pi * (Math.log(pOverM[i]!) - ofStudent)),
  };
}

const cases: readonly Case[] = [
  {
    // 1/8 log(1/4) + 1/8 log(1/2) + 3/4 log 3 = -2/8 log 2 - 1/8 log 2 + 3/4 log 3; slopes p - q.
    beta: 0,
    distance: (3 / 4) * ln3 - (3 / 8) * ln2,
    slopes: [3 / 8, 1 / 8, -1 / 2],
  },
  {
    // 1/2 log 4 + 1/4 log 2 + 1/4 log(1/3) = 5/4 log 2 - 1/4 log 3 =: D; slopes p (log(p / q) - D):
    // 1/2 (2 log 2 - D), 1/4 (log 2 - D), 1/4 (-log 3 - D).
    beta: 1,
    distance: (5 / 4) * ln2 - (1 / 4) * ln3,
    slopes: [
      (3 / 8) * ln2 + (1 / 8) * ln3,
      (-1 / 16) * ln2 + (1 / 16) * ln3,
      (-5 / 16) * ln2 - (3 / 16) * ln3,
    ],
  },
  // m = (5/16, 3/16, 1/2): q / m = (2/5, 2/3, 3/2), p / m = (8/5, 4/3, 1/2).
  jensenShannon(
    1 / 2,
    Math.log(2 / 5) / 8 + Math.log(2 / 3) / 8 + (3 / 4) * Math.log(3 / 2),
    Math.log(8 / 5) / 2 + Math.log(4 / 3) / 4 + Math.log(1 / 2) / 4,
    [8 / 5, 4 / 3, 1 / 2],
  ),
  // m = q/4 + 3p/4 = (13/32, 7/32, 3/8): q / m = (4/13, 4/7, 2), p / m = (16/13, 8/7, 2/3).
  jensenShannon(
    1 / 4,
    Math.log(4 / 13) / 8 + Math.log(4 / 7) / 8 + (3 / 4) * ln2,
    Math.log(16 / 13) / 2 + Math.log(8 / 7) / 4 + Math.log(2 / 3) / 4,
    [16 / 13, 8 / 7, 2 / 3],
  ),
  {
    // The teacher's likeliest is the last word, the other two are one: q = (3/4 | 1/4), p = (1/4 | 3/4), KL(q || p) =
    // 3/4 log 3 - 1/4 log 3. Slopes p - q = (-1/2 | 1/2), the rest's 1/2 shared as p shares it: 2 to 1.
    beta: 0,
    topK: 1,
    distance: ln3 / 2,
    slopes: [1 / 3, 1 / 6, -1 / 2],
  },
  {
    // KL(p || q) = -1/4 log 3 + 3/4 log 3; slopes p (log(p / q) - D) = (1/4 (-3/2 log 3) | 3/4 (1/2 log 3)).
    beta: 1,
    topK: 1,
    distance: ln3 / 2,
    slopes: [ln3 / 4, ln3 / 8, (-3 / 8) * ln3],
  },
  {
    // m = (1/2 | 1/2): KL(q || m) = KL(p || m) = 3/4 log(3/2) + 1/4 log(1/2) =: D; slopes 1/2 p (log(p / m) - D) with
    // D = 3/4 log 3 - log 2: (1/8 (-3/4 log 3) | 3/8 (1/4 log 3)).
    beta: 1 / 2,
    topK: 1,
    distance: (3 / 4) * ln3 - ln2,
    slopes: [ln3 / 16, ln3 / 32, (-3 / 32) * ln3],
  },
];

interface Found {
  readonly distances: Float64Array;
  readonly slopes: Float64Array;
}

/** Rows of logits; each row's cotangent is 1. */
async function compare(
  student: readonly (readonly number[])[],
  teacher: readonly (readonly number[])[],
  temperature: number,
  options: DivergenceOptions,
  dtype: 'float32' | 'float64' = 'float64',
): Promise<Found> {
  const graph = new Graph();
  const shape = [student.length, student[0]!.length];
  const [own, its] = ['student', 'teacher'].map((name) => graph.input(name, dtype, shape));
  const distances = divergence(own!, its!, 1 / temperature, options);
  graph.output('distances', distances);
  const cotangent = graph.filled([student.length], 1, dtype);
  graph.output('slopes', gradients([{ value: distances, cotangent }], [own!])[0]!);
  const rows = { student: Float64Array.from(student.flat()), teacher: Float64Array.from(teacher.flat()) };
  const found = await evaluate(runtime, graph, rows);
  return {
    distances: Float64Array.from(found['distances'] as Float64Array),
    slopes: Float64Array.from(found['slopes'] as Float64Array),
  };
}

const logits = (probabilities: readonly number[], temperature: number): number[] =>
  // What is added to all logits of a row changes nothing.
  probabilities.map((probability) => temperature * Math.log(probability) + 3);

describe.each([1, 0.5, 1.3])('at temperature %d', (temperature) => {
  test.each(cases)('beta $beta, top $topK', async ({ distance, slopes, ...options }) => {
    const of = await compare([logits(p, temperature)], [logits(q, temperature)], temperature, options);
    expect(of.distances[0]).toBeCloseTo(distance, 12);
    // Logits are divided by the temperature, and so are slopes.
    slopes.forEach((slope, i) => expect(of.slopes[i]).toBeCloseTo(slope / temperature, 12));
  });
});

/** Rows of eleven words, no two rows alike. */
const wave = (seed: number): number[][] =>
  [0, 1, 2].map((row) => Array.from({ length: 11 }, (_, i) => 3 * Math.sin(seed + 1.7 * i * (row + 1))));

const betas = [0, 1e-6, 0.1, 0.5, 0.9, 1 - 1e-6, 1];

describe.each(betas)('beta %d', (beta) => {
  test('as many words as there are, or more, are the whole vocabulary, to the bit', async () => {
    const whole = await compare(wave(1), wave(2), 0.8, { beta });
    for (const topK of [11, 12, 4096])
      expect(await compare(wave(1), wave(2), 0.8, { beta, topK })).toEqual(whole);
  });

  test('one word fewer, and the last is compared for itself all the same', async () => {
    const [whole, but] = [{ beta }, { beta, topK: 10 }].map((options) =>
      compare(wave(1), wave(2), 0.8, options),
    ) as [Promise<Found>, Promise<Found>];
    const [expected, found] = [await whole, await but];
    expected.distances.forEach((distance, i) => expect(found.distances[i]).toBeCloseTo(distance, 12));
    expected.slopes.forEach((slope, i) => expect(found.slopes[i]).toBeCloseTo(slope, 12));
  });

  test('less is seen of fewer words', async () => {
    const distances = await Promise.all(
      [1, 3, 6, undefined].map(async (topK) => {
        return (await compare(wave(1), wave(2), 0.8, { beta, topK })).distances[0]!;
      }),
    );
    expect(distances).toEqual(distances.toSorted((a, b) => a - b));
    expect(distances[0]).toBeGreaterThan(0);
  });

  test.each([undefined, 1, 4])('equal distributions, top %s: nothing, to 1e-6', async (topK) => {
    for (const dtype of ['float32', 'float64'] as const) {
      const { distances, slopes } = await compare(wave(3), wave(3), 0.7, { beta, topK }, dtype);
      for (const value of [...distances, ...slopes]) expect(Math.abs(value)).toBeLessThan(1e-6);
    }
  });

  test.each([undefined, 2])('top %s: logits of 1e4 and -1e4 overflow nothing', async (topK) => {
    const far = [1e4, -1e4, 0, 5, -1e4];
    const of = await compare(
      [far, far, far.toReversed(), [0, 0, 0, 0, 0]],
      [far.toReversed(), far, [1, 2, 3, 4, 5], far],
      0.5,
      { beta, topK },
      'float32',
    );
    for (const value of [...of.distances, ...of.slopes]) expect(Number.isFinite(value)).toBe(true);
    expect(of.distances[0]).toBeGreaterThan(0);
    expect(Math.abs(of.distances[1]!)).toBe(0);
    for (const distance of of.distances) expect(distance).toBeGreaterThanOrEqual(-1e-6);
  });
});

test('Jensen-Shannon tends to 0 towards the ends, which are KLs all the same', async () => {
  const at = async (beta: number) => (await compare(wave(1), wave(2), 1, { beta })).distances[0]!;
  expect(await at(1e-9)).toBeLessThan(1e-6);
  expect(await at(1 - 1e-9)).toBeLessThan(1e-6);
  expect(await at(0)).toBeGreaterThan(0.5);
  expect(await at(1)).toBeGreaterThan(0.5);
});

test.each([
  [{ beta: -0.1 }, 'divergence: beta must be from 0 to 1, got -0.1'],
  [{ beta: NaN }, 'divergence: beta must be from 0 to 1, got NaN'],
  [{ beta: 0, topK: 0 }, 'divergence: top k must be a whole number of words, got 0'],
])('%o is refused', async (options, message) => {
  await expect(compare([p], [q], 1, options)).rejects.toThrow(message);
});

test('logits of unlike vocabularies are refused', async () => {
  const graph = new Graph();
  const [own, its] = [3, 4].map((words) => graph.input(`of ${words}`, 'float32', [2, words]));
  expect(() => divergence(own!, its!, 1, { beta: 0 })).toThrow(
    'divergence: expected logits [R,V] and [R,V], a scalar, got float32[2,3] and float32[2,4] and float32[]',
  );
});

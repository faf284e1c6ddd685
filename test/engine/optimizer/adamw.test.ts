import { describe, expect, test } from 'vitest';
import { AdamW } from '../../../runner/engine/optimizer/adamw.ts';
import type { AdamWOptions, UpdatePiece } from '../../../runner/engine/optimizer/adamw.ts';
import { chunkElements, flatChunks } from '../../../runner/engine/optimizer/flat-chunks.ts';
import type { FlatChunk } from '../../../runner/engine/optimizer/flat-chunks.ts';
import type { Tensor } from '../../../runner/engine/ort/runtime.ts';
import { Scope } from '../../../runner/engine/ort/scope.ts';
import { leakCheckedRuntime } from '../learner/support.ts';

const runtime = leakCheckedRuntime();
const defaults: AdamWOptions = { lr: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0 };

interface Arenas {
  readonly weights: Float32Array;
  readonly gradients: Float32Array;
  readonly firstMoment: Float32Array;
  readonly secondMoment: Float32Array;
  /** Elements before this one are subject to weight decay. */
  readonly decayedSize: number;
}

function arenasOf(weights: Float32Array, decayedSize = weights.length): Arenas {
  const zeros = (): Float32Array => new Float32Array(weights.length);
  return { weights, gradients: zeros(), firstMoment: zeros(), secondMoment: zeros(), decayedSize };
}

/** AdamW over chunks of the arenas. */
async function withAdamW<T>(arenas: Arenas, use: (optimizer: AdamW) => Promise<T>): Promise<T> {
  const { weights, gradients, firstMoment, secondMoment, decayedSize } = arenas;
  const scope = new Scope();
  const view = (arena: Float32Array, { begin, end }: FlatChunk): Tensor =>
    scope.own(runtime.tensor('float32', [end - begin], arena.subarray(begin, end)));
  const pieces = (begin: number, end: number, decayed: boolean): UpdatePiece[] =>
    flatChunks(begin, end).map((chunk) => ({
      weight: view(weights, chunk),
      gradient: view(gradients, chunk),
      first: view(firstMoment, chunk),
      second: view(secondMoment, chunk),
      decayed,
    }));
  try {
    const optimizer = scope.own(
      await AdamW.create(runtime, {
        gradients: flatChunks(0, weights.length).map((chunk) => view(gradients, chunk)),
        updates: [...pieces(0, decayedSize, true), ...pieces(decayedSize, weights.length, false)],
      }),
    );
    return await use(optimizer);
  } finally {
    scope[Symbol.dispose]();
  }
}

/** Algorithm 2 of Loshchilov and Hutter in float64, with clipping by the global norm before it. */
class Reference {
  readonly weights: Float64Array;
  readonly #first: Float64Array;
  readonly #second: Float64Array;
  readonly #decayedSize: number;
  #step = 0;

  constructor({ weights, decayedSize }: Arenas) {
    this.weights = Float64Array.from(weights);
    this.#first = new Float64Array(weights.length);
    this.#second = new Float64Array(weights.length);
    this.#decayedSize = decayedSize;
  }

  step(
    gradients: Float32Array,
    { lr, beta1, beta2, eps, weightDecay, clipNorm = Infinity }: AdamWOptions,
  ): void {
    this.#step++;
    const norm = Math.hypot(...gradients);
    const scale = Math.min(1, clipNorm / norm);
    gradients.forEach((gradient, i) => {
      const g = gradient * scale;
      this.#first[i] = beta1 * this.#first[i]! + (1 - beta1) * g;
      this.#second[i] = beta2 * this.#second[i]! + (1 - beta2) * g * g;
      const first = this.#first[i]! / (1 - beta1 ** this.#step);
      const second = this.#second[i]! / (1 - beta2 ** this.#step);
      const decay = i < this.#decayedSize ? weightDecay * this.weights[i]! : 0;
      this.weights[i]! -= lr * (first / (Math.sqrt(second) + eps) + decay);
    });
  }
}

describe('by hand', () => {
  // lr 0.1, betas (0.9, 0.99), eps 0, decay 0.5 on the first element only; gradients (0.2, -4), then (0.6, 2).
  // Step 1: m^ / sqrt(v^) is sign(g): w0 = 1 - 0.1 (1 + 0.5) = 0.85, w1 = 2 + 0.1 = 2.1.
  // Step 2, element 0: m = 0.9 * 0.02 + 0.1 * 0.6 = 0.078, / 0.19 = 0.4105263; v = 0.99 * 0.0004 + 0.01 * 0.36 = 0.003996,
  //   / 0.0199 = 0.2008040, root 0.4481116; ratio 0.9161252; w0 = 0.85 - 0.1 (0.9161252 + 0.5 * 0.85) = 0.7158875.
  // Element 1: m = 0.9 * -0.4 + 0.2 = -0.16, / 0.19 = -0.8421053; v = 0.99 * 0.16 + 0.04 = 0.1984, / 0.0199 = 9.9698492,
  //   root 3.1575068; ratio -0.2666994; w1 = 2.1 + 0.0266699 = 2.1266699.
  const options: AdamWOptions = { lr: 0.1, beta1: 0.9, beta2: 0.99, eps: 0, weightDecay: 0.5 };

  test('two steps with bias correction and decoupled weight decay', () => {
    const arenas = arenasOf(Float32Array.of(1, 2), 1);
    return withAdamW(arenas, async (optimizer) => {
      arenas.gradients.set([0.2, -4]);
      const report = await optimizer.step(options);
      expect(arenas.weights[0]).toBeCloseTo(0.85, 6);
      expect(arenas.weights[1]).toBeCloseTo(2.1, 6);
      expect(report.gradNorm).toBeCloseTo(Math.hypot(0.2, 4), 6);
      expect(report.updateNorm).toBeCloseTo(Math.hypot(0.15, 0.1), 6);
      arenas.gradients.set([0.6, 2]);
      await optimizer.step(options);
      expect(arenas.weights[0]).toBeCloseTo(0.7158875, 6);
      expect(arenas.weights[1]).toBeCloseTo(2.1266699, 6);
      expect(arenas.firstMoment[0]).toBeCloseTo(0.078, 6);
      expect(arenas.secondMoment[1]).toBeCloseTo(0.1984, 6);
      expect(optimizer.stepCount).toBe(2);
    });
  });
});

test('twenty steps over several chunks follow the float64 reference', () => {
  const size = 5003;
  const arenas = arenasOf(
    new Float32Array(size).map((_, i) => Math.sin(i)),
    3000,
  );
  const reference = new Reference(arenas);
  const options: AdamWOptions = { ...defaults, weightDecay: 0.1, clipNorm: 1 };
  return withAdamW(arenas, async (optimizer) => {
    for (let step = 1; step <= 20; step++) {
      arenas.gradients.forEach((_, i) => (arenas.gradients[i] = Math.cos(i * step) * 10 ** ((i % 7) - 5)));
      reference.step(arenas.gradients, options);
      await optimizer.step(options);
    }
    const worst = arenas.weights.reduce(
      (max, weight, i) => Math.max(max, Math.abs(weight - reference.weights[i]!)),
      0,
    );
    expect(worst).toBeLessThan(2e-6);
  });
});

test('clipping scales the gradient to the norm, and not below it', async () => {
  const step = async (gradient: number[], clipNorm: number | undefined): Promise<number[]> => {
    const arenas = arenasOf(new Float32Array(2));
    arenas.gradients.set(gradient);
    await withAdamW(arenas, (optimizer) => optimizer.step({ ...defaults, clipNorm }));
    return [...arenas.firstMoment];
  };
  const [first, second] = await step([3, 4], 1);
  expect(first).toBeCloseTo(0.1 * 0.6, 7);
  expect(second).toBeCloseTo(0.1 * 0.8, 7);
  expect(await step([3, 4], 5.001)).toEqual(await step([3, 4], undefined));
});

test.each([NaN, Infinity])('a gradient of %f changes nothing', (bad) => {
  const arenas = arenasOf(Float32Array.of(1, 2, 3));
  arenas.gradients.set([0.1, bad, 0.1]);
  return withAdamW(arenas, async (optimizer) => {
    const { gradNorm, updateNorm } = await optimizer.step(defaults);
    expect(Number.isFinite(gradNorm)).toBe(false);
    expect(updateNorm).toBe(0);
    expect([...arenas.weights]).toEqual([1, 2, 3]);
    expect([...arenas.firstMoment]).toEqual([0, 0, 0]);
    expect(optimizer.stepCount).toBe(0);
  });
});

test('norm and update of a range of many chunks are exact to float32, and repeat bit for bit', async () => {
  const size = 2 * chunkElements + 4096 * 3;
  const run = (): Promise<{ gradNorm: number; weights: Float32Array }> => {
    const arenas = arenasOf(new Float32Array(size).fill(0.5));
    arenas.gradients.forEach((_, i) => (arenas.gradients[i] = 1e-3 * Math.sin(i)));
    return withAdamW(arenas, async (optimizer) => ({
      ...(await optimizer.step(defaults)),
      weights: arenas.weights,
    }));
  };
  const [one, two] = [await run(), await run()];
  let exact = 0;
  for (let i = 0; i < size; i++) exact += Math.fround(1e-3 * Math.sin(i)) ** 2;
  expect(Math.abs(one.gradNorm / Math.sqrt(exact) - 1)).toBeLessThan(1e-6);
  expect(two.gradNorm).toBe(one.gradNorm);
  expect(Buffer.from(two.weights.buffer).equals(Buffer.from(one.weights.buffer))).toBe(true);
});

test('chunks tile a range', () => {
  expect(flatChunks(5, 17, 5)).toEqual([
    { begin: 5, end: 10 },
    { begin: 10, end: 15 },
    { begin: 15, end: 17 },
  ]);
  expect(flatChunks(5, 5)).toEqual([]);
});

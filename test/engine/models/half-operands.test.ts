// Products of operands rounded to 16 bits: the emulation rounds exactly, and a model's logits and gradients stay near those
// of float32. The real form compiles and computes here too, but the CPU provider, which has no kernel for it, computes it in
// float32 and drops the casts around: its rounding is for a GPU to show.
import { describe, expect, test } from 'vitest';
import { Graph } from '../../../runner/engine/graph/graph.ts';
import { narrowBf16, narrowF16, widenBf16, widenF16 } from '../../../runner/checkpoint/safetensors-halves.ts';
import { linearRoles } from '../../../runner/engine/models/decoder-tensors.ts';
import { linear } from '../../../runner/engine/models/linear.ts';
import type { HalfOperands } from '../../../runner/engine/ops/half-operands.ts';
import { evaluate } from '../graph/compiled-graph.ts';
import { leakCheckedRuntime, livelyWeights, relativeDistance } from '../learner/support.ts';
import { graphPass } from './graph-pass.ts';
import { largestError } from './largest-error.ts';
import { livelyAdapters } from './lively-adapters.ts';
import { configOf, tinyFamilies } from './tiny-families.ts';

const runtime = leakCheckedRuntime();
const emulated = (type: HalfOperands['type']): HalfOperands => ({ type, emulated: true });
const real: HalfOperands = { type: 'float16', emulated: false };

const codecs = { float16: [narrowF16, widenF16], bfloat16: [narrowBf16, widenBf16] } as const;

function rounded(values: Float32Array<ArrayBuffer>, type: HalfOperands['type']): Float32Array {
  const [narrow, widen] = codecs[type];
  const [halves, wide] = [new Uint16Array(values.length), new Float32Array(values.length)];
  narrow(values, halves);
  widen(halves, wide);
  return wide;
}

const wave = (length: number, step: number) =>
  Float32Array.from({ length }, (_, i) => Math.sin(step * (i + 1)));

async function product(operands: HalfOperands, x: Float32Array, weight: Float32Array, bias: Float32Array) {
  const graph = new Graph();
  const input = (name: string, shape: number[]) => graph.input(name, 'float32', shape);
  graph.output(
    'y',
    linear(input('x', [3, 8]), input('weight', [5, 8]), { addend: input('bias', [5]), operands }),
  );
  return (await evaluate(runtime, graph, { x, weight, bias }))['y'] as Float32Array;
}

describe('a linear layer', () => {
  const [x, weight, bias] = [wave(24, 0.7), wave(40, 1.3), wave(5, 2.1)];
  const expected = (type: HalfOperands['type']): number[] => {
    const [rx, rw] = [rounded(x, type), rounded(weight, type)];
    return Array.from({ length: 15 }, (_, at) => {
      const [t, o] = [Math.floor(at / 5), at % 5];
      let sum = bias[o]!;
      for (let i = 0; i < 8; i++) sum += rx[t * 8 + i]! * rw[o * 8 + i]!;
      return sum;
    });
  };

  test.each(['float16', 'bfloat16'] as const)(
    'emulated %s: the operands are the nearest of the type, sum and bias float32',
    async (type) => {
      const y = await product(emulated(type), x, weight, bias);
      expect(largestError(y, expected(type))).toBeLessThan(1e-6);
      const exact = Array.from(y, (_, at) => {
        let sum = bias[at % 5]!;
        for (let i = 0; i < 8; i++) sum += x[Math.floor(at / 5) * 8 + i]! * weight[(at % 5) * 8 + i]!;
        return sum;
      });
      expect(largestError(y, exact)).toBeGreaterThan(1e-5);
    },
  );

  test('real float16 is the same product within a rounding', async () => {
    expect(largestError(await product(real, x, weight, bias), expected('float16'))).toBeLessThan(2e-3);
  });

  test('what float16 cannot hold becomes infinite, and is seen', async () => {
    const y = await product(
      emulated('float16'),
      x.map((value) => 1e5 * value),
      weight,
      bias,
    );
    expect(y.every(Number.isFinite)).toBe(false);
  });
});

describe.each(tinyFamilies)('%s', (_, hf) => {
  const config = configOf(hf);
  const ids = [3, 1, 4, 1, 5, 9, 2, 6, 5, 18, 17, 3];
  const weights = ids.map((_, t) => (t < 2 ? 0 : Math.sin(2 * t)));
  const base = livelyWeights(config, 11);
  const lora = { rank: 3, alpha: 5, targets: linearRoles };
  const withAdapters = new Map([...base, ...livelyAdapters(config, lora, 5)]);

  test.each([
    ['emulated float16', emulated('float16'), 0.02],
    ['emulated bfloat16', emulated('bfloat16'), 0.15],
    ['float16', real, 0.03],
  ] as const)(
    '%s: logits and gradients near those of float32, with and without adapters',
    async (_, operands, near) => {
      for (const [form, tensors] of [
        [{}, base],
        [{ lora }, withAdapters],
      ] as const) {
        const pass = (changed: object) =>
          graphPass({ runtime, config, form: { ...form, ...changed }, tensors }, ids, weights, 1, true);
        const [half, whole] = [await pass({ operands }), await pass({})];
        const distance = relativeDistance(half.logits, whole.logits);
        expect(distance).toBeLessThan(near);
        if (operands.emulated) expect(distance).toBeGreaterThan(1e-5);
        for (const [name, gradient] of whole.gradients)
          expect(relativeDistance(half.gradients.get(name)!, gradient), name).toBeLessThan(2 * near);
      }
    },
  );
});

// Rotary position embedding in the half-split convention of Hugging Face: element i of a head pairs with i + hd/2.
// One contrib op in float32; spelt out in float64, for which it has no kernel.
import { apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectSameDType, expectThat, operand } from '../graph/expect.ts';
import { defineOp, vjp } from '../graph/op.ts';
import type { Emission, Emitter, Op } from '../graph/op.ts';
import { sameShape, sizeAt } from '../graph/shape.ts';

interface RotaryAttributes {
  readonly inverse: boolean;
}

const rotaryOp: Op<RotaryAttributes> = defineOp<RotaryAttributes>({
  name: 'rotary',
  infer(inputs) {
    const [x, cos, sin] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    expectFloat('rotary', x);
    for (const table of [cos, sin]) {
      expectSameDType('rotary', x, table);
      const fits =
        x.shape.length === 4 && sameShape(table.shape, [sizeAt(x.shape, 2), sizeAt(x.shape, 3) / 2]);
      expectThat(fits, 'rotary', 'x [B,H,S,hd] and tables [S,hd/2]', x, table);
    }
    return [{ dtype: x.dtype, shape: x.shape }];
  },
  emit(emitter, emission) {
    const [x, cos, table] = emission.from as [string, string, string];
    const sin = emission.attributes.inverse ? emitter.node('Neg', [table]) : table;
    const names = { x, cos, sin };
    if (operand(emission.inputs, 0).dtype === 'float64') emitRotation(emitter, emission, names);
    else emitRotaryEmbedding(emitter, emission, names);
  },
  gradient: vjp((g, { inputs, attributes }) => {
    const [cos, sin] = [operand(inputs, 1), operand(inputs, 2)];
    return [apply(rotaryOp, [g, cos, sin], { inverse: !attributes.inverse }), undefined, undefined];
  }),
});

/** x [B,H,S,hd] turned by the angles whose cosines and sines are cos and sin [S,hd/2] (constants of training). */
export const rotary = (x: Value, cos: Value, sin: Value): Value =>
  apply(rotaryOp, [x, cos, sin], { inverse: false });

interface RotaryNames {
  readonly x: string;
  readonly cos: string;
  readonly sin: string;
}

function emitRotaryEmbedding(
  emitter: Emitter,
  { to }: Emission<RotaryAttributes>,
  { x, cos, sin }: RotaryNames,
): void {
  // A single position id is the position of the first row; the rest follow.
  emitter.node('RotaryEmbedding', [x, emitter.int64s([0]), cos, sin], {
    domain: 'com.microsoft',
    outputs: to,
  });
}

function emitRotation(
  emitter: Emitter,
  { inputs, to }: Emission<RotaryAttributes>,
  { x, cos, sin }: RotaryNames,
): void {
  const half = sizeAt(operand(inputs, 0).shape, -1) / 2;
  const part = (from: number) =>
    emitter.node('Slice', [x, ...[from, from + half, -1].map((at) => emitter.int64s([at]))]);
  const [a, b] = [part(0), part(half)];
  const times = (value: string, table: string) => emitter.node('Mul', [value, table]);
  const first = emitter.node('Sub', [times(a, cos), times(b, sin)]);
  const second = emitter.node('Add', [times(b, cos), times(a, sin)]);
  emitter.node('Concat', [first, second], { outputs: to, attributes: { axis: { int: -1 } } });
}

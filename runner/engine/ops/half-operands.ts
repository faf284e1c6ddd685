// Products whose operands are rounded to 16 bits while sums, and all that is no product, stay float32. Emulated, the
// operands go through the 16-bit type and back and are multiplied in float32: the same rounding of operands where no kernel
// multiplies 16-bit numbers, which is how the CPU tests it (its provider runs the real form in float32, unrounded). In the
// real form a product also comes out in the 16-bit type, before it is widened: rounded once more, and above 65,504 infinite.
// Graphs of float64, made for finite differences alone, round nothing.
import { dataTypes } from '../onnx/schema.ts';
import type { Emitter, NodeExtra } from '../graph/op.ts';

export interface HalfOperands {
  readonly type: 'float16' | 'bfloat16';
  readonly emulated: boolean;
}

/** TensorProto.DataType. */
const halfTypes = { float16: 10, bfloat16: 16 } as const;

function emitCast(emitter: Emitter, name: string, to: number, outputs?: readonly string[]): string {
  return emitter.node('Cast', [name], { attributes: { to: { int: to } }, ...(outputs && { outputs }) });
}

/** Gemm of `from` (a, b and, where given, an addend, all float32) with a and b rounded. The addend never is. */
export function emitHalfProduct(
  emitter: Emitter,
  { type, emulated }: HalfOperands,
  from: readonly string[],
  to: readonly string[],
  options: NodeExtra,
): void {
  const [a, b, addend] = from as [string, string, string | undefined];
  const halves = [a, b].map((name) => emitCast(emitter, name, halfTypes[type]));
  if (emulated) {
    const rounded = halves.map((name) => emitCast(emitter, name, dataTypes.float32));
    emitter.node('Gemm', addend === undefined ? rounded : [...rounded, addend], { ...options, outputs: to });
    return;
  }
  const product = emitter.node('Gemm', halves, options);
  if (addend === undefined) emitCast(emitter, product, dataTypes.float32, to);
  else emitter.node('Add', [emitCast(emitter, product, dataTypes.float32), addend], { outputs: to });
}

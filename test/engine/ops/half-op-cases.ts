// Products of 16-bit operands. Cases of their own, since WebGPU runs them only where the adapter has shader-f16, which
// SwiftShader has not, and has no bfloat16 at all.
import type { HalfOperands } from '../../../runner/engine/ops/half-operands.ts';
import { gemm } from '../../../runner/engine/ops/matmul.ts';
import { gemmCase } from './model-op-cases.ts';
import { get } from './op-case.ts';
import type { OpCase } from './op-case.ts';

/** Against float64, which rounds nothing: within a rounding of each operand, and of the product where that is 16 bits wide. */
function halfGemmCase(
  operands: HalfOperands,
  transA: boolean,
  transB: boolean,
  c?: (m: number, n: number) => number[],
): OpCase {
  const whole = gemmCase(transA, transB, c);
  return {
    ...whole,
    name: `${whole.name}, ${operands.emulated ? 'emulated ' : ''}${operands.type} operands`,
    tolerance: operands.type === 'float16' ? 2e-3 : 1e-2,
    build: (values) =>
      gemm(get(values, 'a'), get(values, 'b'), { transA, transB, alpha: 0.5, operands, c: values['c'] }),
  };
}

export const halfCases: readonly OpCase[] = [
  halfGemmCase({ type: 'float16', emulated: true }, false, true, (_m, n) => [n]),
  halfGemmCase({ type: 'float16', emulated: true }, true, false),
  halfGemmCase({ type: 'float16', emulated: false }, false, true, (m, n) => [m, n]),
  halfGemmCase({ type: 'float16', emulated: false }, true, true),
  halfGemmCase({ type: 'bfloat16', emulated: true }, true, true, (m, n) => [m, n]),
];

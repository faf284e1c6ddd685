// A linear layer, the one way in which models multiply by weights: y = x W^T, plus a bias or residual, plus a low-rank
// adapter where there is one (Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021, equation 3).
// Additions ride on the products, so that an adapter costs its two products and no pass of its own.

import type { Value } from '../graph/graph.ts';
import type { HalfOperands } from '../ops/half-operands.ts';
import { gemm } from '../ops/matmul.ts';

/** Adds scale * x A^T B^T, A being [r,in] and B [out,r]. */
export interface Adapter {
  readonly a: Value;
  readonly b: Value;
  readonly scale: number;
}

export interface LinearOptions {
  /** A bias [out], or a residual [T,out]. */
  readonly addend?: Value | undefined;
  readonly adapter?: Adapter | undefined;
  /** Undefined: products of float32. */
  readonly operands?: HalfOperands | undefined;
}

/** x [T,in], weight [out,in] -> [T,out]. */
export function linear(x: Value, weight: Value, { addend, adapter, operands }: LinearOptions = {}): Value {
  const y = gemm(x, weight, { transB: true, operands, ...(addend && { c: addend }) });
  return adapter === undefined ? y : withAdapter(y, x, adapter, operands);
}

/** y [T,out] of a linear layer of x [T,in], with the adapter's share added: for layers that are computed together. */
export function withAdapter(y: Value, x: Value, { a, b, scale }: Adapter, operands?: HalfOperands): Value {
  const low = gemm(x, a, { transB: true, operands });
  return gemm(low, b, { transB: true, alpha: scale, operands, c: y });
}

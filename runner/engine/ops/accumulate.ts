// Adding a contribution to what is there: the one way in which gradients accumulate.
import type { Value } from '../graph/graph.ts';
import { add } from './arithmetic.ts';
import { accumulateProduct } from './matmul.ts';

/** into + x. Where x is a product without an addend, `into` becomes its addend: one pass over memory less. */
export const accumulate = (into: Value, x: Value): Value => accumulateProduct(into, x) ?? add(into, x);

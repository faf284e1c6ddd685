// Adding a contribution to what is there: the one way in which gradients accumulate.
import type { Value } from '../graph/graph.ts';
import { add } from './arithmetic.ts';
import { accumulateScatter } from './gather.ts';
import { accumulateProduct } from './matmul.ts';

/**
 * into + x. Where x is a product without an addend, or a scatter into zeros, `into` takes that place: one pass over
 * memory less, and the output may be bound to the same buffer as `into`.
 */
export const accumulate = (into: Value, x: Value): Value =>
  accumulateProduct(into, x) ?? accumulateScatter(into, x) ?? add(into, x);

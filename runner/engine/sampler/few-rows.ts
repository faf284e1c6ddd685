// Products of a decode step. On the cpu the kernel copies the right operand into its own order at every call, which is the
// whole weight for a handful of rows: there the weight stands on the left. 20 M parameters, 2 threads, all products of a
// step, ms: 4 rows 6.1 -> 3.7, 16 rows 12.7 -> 7.9, 64 rows 16.4 -> 13.2, 128 rows 26.1 -> 28.8.
import type { Value } from '../graph/graph.ts';
import { linear } from '../models/linear.ts';
import type { ModelForm } from '../models/model-form.ts';
import { add } from '../ops/arithmetic.ts';
import { matmul, swapLastTwo } from '../ops/matmul.ts';
import { siluMul } from '../ops/silu.ts';
import { split } from '../ops/slice.ts';

/** From two rows on, up to this many, the weight stands on the left. */
const mostFew = 64;

export interface StepForm {
  readonly form: ModelForm;
  /** The graph runs on the cpu. */
  readonly onCpu: boolean;
}

export const isFew = (x: Value, { form, onCpu }: StepForm): boolean =>
  onCpu && form.operands === undefined && x.shape[0]! > 1 && x.shape[0]! <= mostFew;

/** x [T,in], weight [out,in], addend [out] -> [T,out]. */
export function stepProduct(x: Value, weight: Value, step: StepForm, addend?: Value): Value {
  if (!isFew(x, step)) return linear(x, weight, { addend, operands: step.form.operands });
  const y = swapLastTwo(matmul(weight, swapLastTwo(x)));
  return addend === undefined ? y : add(y, addend);
}

/** The gated layer of few rows x [T,D]: between its products they stay columns. gateUp [2F,D], down [D,F] -> [T,D]. */
export function fewRowsGated(x: Value, gateUp: Value, down: Value): Value {
  const F = down.shape[1]!;
  const [gate, up] = split(matmul(gateUp, swapLastTwo(x)), 0, [F, F]) as [Value, Value];
  return swapLastTwo(matmul(down, siluMul(gate, up)));
}

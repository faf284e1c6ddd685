// How many parameters a decoder has, and how many its low-rank adapters.
import type { ModelSizes } from '../model-shape.ts';
import type { LoraModule } from '../tuning.ts';

/** What is trained. `target_modules` have adapters in every block. */
export type Tuning =
  | { readonly method: 'full' }
  | { readonly method: 'lora'; readonly rank: number; readonly target_modules: readonly LoraModule[] };

/** [out, in] of a block's linear layers. */
function linearDims(sizes: ModelSizes): Record<LoraModule, readonly [number, number]> {
  const { hiddenSize: D, intermediateSize: F, heads, kvHeads, headSize } = sizes;
  return {
    q_proj: [heads * headSize, D],
    k_proj: [kvHeads * headSize, D],
    v_proj: [kvHeads * headSize, D],
    o_proj: [D, heads * headSize],
    gate_proj: [F, D],
    up_proj: [F, D],
    down_proj: [D, F],
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export function parameterCount(sizes: ModelSizes): number {
  const { modelType, vocabSize: V, hiddenSize: D, layers, heads, kvHeads, headSize } = sizes;
  const linears = sum(Object.values(linearDims(sizes)).map(([out, into]) => out * into));
  const biases = modelType === 'qwen2' ? (heads + 2 * kvHeads) * headSize : 0;
  const headNorms = modelType === 'qwen3' ? 2 * headSize : 0;
  const head = sizes.scalarHead ? D : sizes.tieWordEmbeddings ? 0 : V * D;
  return V * D + head + D + layers * (linears + biases + headNorms + 2 * D);
}

/** A and B of every adapter: rank x (in + out) each. */
export function adapterCount(sizes: ModelSizes, tuning: Extract<Tuning, { method: 'lora' }>): number {
  const dims = linearDims(sizes);
  return (
    sizes.layers * sum(tuning.target_modules.map((name) => tuning.rank * (dims[name][0] + dims[name][1])))
  );
}

/**
 * Sizes of the trained tensors, each once, added: on a device what is updated in place goes to a spare tensor of its size
 * (ADR 0011).
 */
export function sizesApart(sizes: ModelSizes, tuning: Tuning): number {
  const { modelType, vocabSize: V, hiddenSize: D, heads, kvHeads, headSize } = sizes;
  const dims = linearDims(sizes);
  if (tuning.method === 'lora')
    return sum([
      ...new Set(tuning.target_modules.flatMap((name) => dims[name].map((side) => tuning.rank * side))),
    ]);
  const biases = modelType === 'qwen2' ? [heads * headSize, kvHeads * headSize] : [];
  const headNorms = modelType === 'qwen3' ? [headSize] : [];
  const matrices = Object.values(dims).map(([out, into]) => out * into);
  return sum([...new Set([V * D, ...matrices, ...biases, D, ...headNorms])]);
}

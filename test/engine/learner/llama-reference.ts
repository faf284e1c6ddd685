// A Llama in float64 loops, read off the published architecture (transformers, modeling_llama.py: what is computed,
// not how) and sharing nothing with the engine but tensor names: what the engine's numbers are checked against.
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';

export type ReferenceWeights = ReadonlyMap<string, { readonly data: ArrayLike<number> }>;

type Row = number[];

const dot = (a: Row, weights: ArrayLike<number>, row: number): number =>
  a.reduce((sum, x, i) => sum + x * weights[row * a.length + i]!, 0);

const project = (x: Row, weights: ArrayLike<number>): Row =>
  Array.from({ length: weights.length / x.length }, (_, row) => dot(x, weights, row));

function rmsNorm(x: Row, weights: ArrayLike<number>, eps: number): Row {
  const inverse = 1 / Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) / x.length + eps);
  return x.map((value, i) => value * inverse * weights[i]!);
}

/** Turns every head of x by its position's angles: element i pairs with i + hd/2. */
function rotate(x: Row, position: number, { headSize, ropeTheta }: DecoderConfig): Row {
  const half = headSize / 2;
  return x.map((value, at) => {
    const within = at % headSize;
    const angle = position * ropeTheta ** ((-2 * (within % half)) / headSize);
    const partner = within < half ? -x[at + half]! : x[at - half]!;
    return value * Math.cos(angle) + partner * Math.sin(angle);
  });
}

function attend(
  queries: Row[],
  keys: Row[],
  values: Row[],
  { heads, kvHeads, headSize }: DecoderConfig,
): Row[] {
  return queries.map((query, t) =>
    Array.from({ length: heads }, (_, head) => {
      const from = Math.floor(head / (heads / kvHeads)) * headSize;
      const part = (row: Row, begin: number): Row => row.slice(begin, begin + headSize);
      const scores = keys
        .slice(0, t + 1)
        .map((key) => dot(part(query, head * headSize), part(key, from), 0) / Math.sqrt(headSize));
      const largest = Math.max(...scores);
      const exps = scores.map((score) => Math.exp(score - largest));
      const total = exps.reduce((sum, x) => sum + x, 0);
      return Array.from({ length: headSize }, (_, i) =>
        exps.reduce((sum, x, s) => sum + (x / total) * values[s]![from + i]!, 0),
      );
    }).flat(),
  );
}

/** Logits [S][V] of one sequence. */
export function referenceLogits(
  config: DecoderConfig,
  weights: ReferenceWeights,
  ids: readonly number[],
): Row[] {
  const tensor = (name: string): ArrayLike<number> => weights.get(`${name}.weight`)!.data;
  const { hiddenSize: D, rmsNormEps } = config;
  const embedding = tensor('model.embed_tokens');
  let x = ids.map((id) => Array.from({ length: D }, (_, i) => embedding[id * D + i]!));
  for (let layer = 0; layer < config.layers; layer++) {
    const of = (name: string): ArrayLike<number> => tensor(`model.layers.${layer}.${name}`);
    const normal = x.map((row) => rmsNorm(row, of('input_layernorm'), rmsNormEps));
    const heads = (name: string): Row[] => normal.map((row) => project(row, of(`self_attn.${name}`)));
    const turned = (rows: Row[]): Row[] => rows.map((row, position) => rotate(row, position, config));
    const context = attend(turned(heads('q_proj')), turned(heads('k_proj')), heads('v_proj'), config);
    const middle = x.map((row, t) =>
      project(context[t]!, of('self_attn.o_proj')).map((value, i) => value + row[i]!),
    );
    x = middle.map((row) => {
      const inner = rmsNorm(row, of('post_attention_layernorm'), rmsNormEps);
      const up = project(inner, of('mlp.up_proj'));
      const gated = project(inner, of('mlp.gate_proj')).map(
        (gate, i) => (gate / (1 + Math.exp(-gate))) * up[i]!,
      );
      return project(gated, of('mlp.down_proj')).map((value, i) => value + row[i]!);
    });
  }
  const head = config.tieWordEmbeddings ? embedding : tensor('lm_head');
  return x.map((row) => project(rmsNorm(row, tensor('model.norm'), rmsNormEps), head));
}

/** Log-probability of each token under softmax(logits / T) given those before it; 0 for the first. */
export function referenceLogProbs(
  config: DecoderConfig,
  weights: ReferenceWeights,
  ids: readonly number[],
  temperature: number,
): Row {
  const logits = referenceLogits(config, weights, ids);
  return ids.map((id, t) => {
    if (t === 0) return 0;
    const scaled = logits[t - 1]!.map((logit) => logit / temperature);
    const largest = Math.max(...scaled);
    return scaled[id]! - largest - Math.log(scaled.reduce((sum, x) => sum + Math.exp(x - largest), 0));
  });
}

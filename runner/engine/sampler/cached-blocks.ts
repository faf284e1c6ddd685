// The decoder's blocks as sampling runs them: S new tokens of each of B rows against the rows' caches.
// Weights are inputs, named as in the checkpoint, with q, k, v, their biases, and gate, up fused as the parameter arena stores them.
import type { Graph, Value } from '../graph/graph.ts';
import type { DecoderConfig } from '../models/config.ts';
import { add } from '../ops/arithmetic.ts';
import { gatherRows } from '../ops/gather.ts';
import { gemm } from '../ops/matmul.ts';
import { rmsNorm } from '../ops/rms-norm.ts';
import { reshape } from '../ops/shape.ts';
import { siluMul } from '../ops/silu.ts';
import { split } from '../ops/slice.ts';
import { cachedAttention, rotaryAt } from './cached-attention.ts';

export interface CacheShape {
  readonly B: number;
  /** Tokens that a row's cache has room for. */
  readonly capacity: number;
}

interface Positions {
  /** [B,S] int64. */
  readonly positions: Value;
  readonly lastPositions: Value;
  readonly longest: Value;
  readonly cos: Value;
  readonly sin: Value;
}

/** Declares the inputs and outputs of `graph` and returns the hidden states [B*S, D] after the last block. */
export function cachedBlocks(
  graph: Graph,
  config: DecoderConfig,
  { B, capacity }: CacheShape,
  S: number,
): Value {
  const tokens = graph.input('tokens', 'int32', [B * S]);
  const at: Positions = {
    positions: graph.input('positions', 'int64', [B, S]),
    lastPositions: graph.input('last_positions', 'int32', [B]),
    longest: graph.input('longest', 'int32', []),
    cos: graph.input('cos', 'float32', [capacity, config.headSize / 2]),
    sin: graph.input('sin', 'float32', [capacity, config.headSize / 2]),
  };
  let x = gatherRows(graph.input('embedding', 'float32', [config.vocabSize, config.hiddenSize]), tokens);
  for (let layer = 0; layer < config.layers; layer += 1)
    x = cachedBlock(graph, config, { B, capacity }, S, layer, x, at);
  return x;
}

function cachedBlock(
  graph: Graph,
  config: DecoderConfig,
  { B, capacity }: CacheShape,
  S: number,
  layer: number,
  x: Value,
  at: Positions,
): Value {
  const { hiddenSize: D, intermediateSize: F, heads: H, kvHeads: KV, headSize: hd, rmsNormEps } = config;
  const weight = (role: string, shape: number[]) => graph.input(`${layer}.${role}`, 'float32', shape);
  const normal = rmsNorm(x, weight('attention_norm', [D]), rmsNormEps);
  const qkvWidth = (H + 2 * KV) * hd;
  const qkv = gemm(normal, weight('qkv', [qkvWidth, D]), {
    transB: true,
    ...(config.qkvBias && { c: weight('qkv_bias', [qkvWidth]) }),
  });
  const [q, k, v] = split(qkv, 1, [H * hd, KV * hd, KV * hd]) as [Value, Value, Value];
  const normalHeads = (x: Value, role: string): Value =>
    config.qkNorm ? rmsNorm(reshape(x, [B, S, -1, hd]), weight(role, [hd]), rmsNormEps) : x;
  const byRow = (x: Value, heads: number): Value => reshape(x, [B, S, heads * hd]);
  const cache = (kind: string) => graph.input(`${layer}.${kind}_cache`, 'float32', [B, KV, capacity, hd]);
  const attended = cachedAttention(
    {
      query: rotaryAt(byRow(normalHeads(q, 'q_norm'), H), at.positions, at.cos, at.sin, H),
      key: rotaryAt(byRow(normalHeads(k, 'k_norm'), KV), at.positions, at.cos, at.sin, KV),
      value: byRow(v, KV),
      keyCache: cache('key'),
      valueCache: cache('value'),
      lastPositions: at.lastPositions,
      longest: at.longest,
    },
    { heads: H, kvHeads: KV },
  );
  graph.output(`${layer}.key_cache_out`, attended.keyCache);
  graph.output(`${layer}.value_cache_out`, attended.valueCache);
  const mixed = add(
    x,
    gemm(reshape(attended.output, [B * S, H * hd]), weight('o', [D, H * hd]), { transB: true }),
  );
  const gateUp = gemm(rmsNorm(mixed, weight('mlp_norm', [D]), rmsNormEps), weight('gate_up', [2 * F, D]), {
    transB: true,
  });
  const [gate, up] = split(gateUp, 1, [F, F]) as [Value, Value];
  return add(mixed, gemm(siluMul(gate, up), weight('down', [D, F]), { transB: true }));
}

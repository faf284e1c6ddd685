// The decoder's blocks as sampling runs them: S new tokens of each of B rows against the rows' caches.
// Weights are inputs, named by layer and role; q, k, v, their biases, and gate, up may be joined as the parameter arena stores them.
import type { Graph, Value } from '../graph/graph.ts';
import type { DecoderConfig } from '../models/config.ts';
import type { BlockRole } from '../models/decoder-tensors.ts';
import { add } from '../ops/arithmetic.ts';
import { gatherRows } from '../ops/gather.ts';
import { gemm } from '../ops/matmul.ts';
import { rmsNorm } from '../ops/rms-norm.ts';
import { reshape } from '../ops/shape.ts';
import { siluMul } from '../ops/silu.ts';
import { split } from '../ops/slice.ts';
import { cachedAttention, rotaryAt } from './cached-attention.ts';

export interface CacheShape {
  /** Weights are joined, see `SamplerWeights`. */
  readonly joined: boolean;
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
export function cachedBlocks(graph: Graph, config: DecoderConfig, shape: CacheShape, S: number): Value {
  const { B, capacity } = shape;
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
    x = cachedBlock(graph, config, shape, S, layer, x, at);
  return x;
}

/** A weight of the block by role or, joined, by name. */
type Weight = (name: string, shape: readonly number[]) => Value;

/** x [T,D] -> [T,out] for each of the roles. */
function projections(
  x: Value,
  weight: Weight,
  roles: readonly (readonly [role: BlockRole, out: number, bias?: BlockRole | undefined])[],
): readonly Value[] {
  const D = x.shape[1]!;
  return roles.map(([role, out, bias]) =>
    gemm(x, weight(role, [out, D]), { transB: true, ...(bias && { c: weight(bias, [out]) }) }),
  );
}

/** The same from one matrix of that name, with one bias where it has one. */
function joinedProjections(
  x: Value,
  weight: Weight,
  name: string,
  outs: readonly number[],
  biased: boolean,
): readonly Value[] {
  const width = outs.reduce((total, out) => total + out, 0);
  const bias = biased ? { c: weight(`${name}_bias`, [width]) } : {};
  return split(gemm(x, weight(name, [width, x.shape[1]!]), { transB: true, ...bias }), 1, outs);
}

function cachedBlock(
  graph: Graph,
  config: DecoderConfig,
  { B, capacity, joined }: CacheShape,
  S: number,
  layer: number,
  x: Value,
  at: Positions,
): Value {
  const { hiddenSize: D, intermediateSize: F, heads: H, kvHeads: KV, headSize: hd, rmsNormEps } = config;
  const weight: Weight = (name, shape) => graph.input(`${layer}.${name}`, 'float32', shape);
  const normal = rmsNorm(x, weight('attentionNorm', [D]), rmsNormEps);
  const bias = (role: BlockRole) => (config.qkvBias ? role : undefined);
  const [q, k, v] = (
    joined
      ? joinedProjections(normal, weight, 'qkv', [H * hd, KV * hd, KV * hd], config.qkvBias)
      : projections(normal, weight, [
          ['q', H * hd, bias('qBias')],
          ['k', KV * hd, bias('kBias')],
          ['v', KV * hd, bias('vBias')],
        ])
  ) as [Value, Value, Value];
  const normalHeads = (x: Value, role: string): Value =>
    config.qkNorm ? rmsNorm(reshape(x, [B, S, -1, hd]), weight(role, [hd]), rmsNormEps) : x;
  const byRow = (x: Value, heads: number): Value => reshape(x, [B, S, heads * hd]);
  const cache = (kind: string) => graph.input(`${layer}.${kind}_cache`, 'float32', [B, KV, capacity, hd]);
  const attended = cachedAttention(
    {
      query: rotaryAt(byRow(normalHeads(q, 'qNorm'), H), at.positions, at.cos, at.sin, H),
      key: rotaryAt(byRow(normalHeads(k, 'kNorm'), KV), at.positions, at.cos, at.sin, KV),
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
  const mixedNormal = rmsNorm(mixed, weight('mlpNorm', [D]), rmsNormEps);
  const [gate, up] = (
    joined
      ? joinedProjections(mixedNormal, weight, 'gate_up', [F, F], false)
      : projections(mixedNormal, weight, [
          ['gate', F],
          ['up', F],
        ])
  ) as [Value, Value];
  return add(mixed, gemm(siluMul(gate, up), weight('down', [D, F]), { transB: true }));
}

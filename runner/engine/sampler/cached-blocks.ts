// The decoder's blocks as sampling runs them: S new tokens of each of B rows against the rows' caches.
// Weights are inputs, named by layer and role; q, k, v, their biases, and gate, up may be joined as the parameter arena stores them.
import type { Graph, Value } from '../graph/graph.ts';
import type { DecoderConfig } from '../models/config.ts';
import type { BlockRole, LinearRole } from '../models/decoder-tensors.ts';
import { withAdapter } from '../models/linear.ts';
import { adapterRole, adapterScale, adapterShape } from '../models/lora.ts';
import { add } from '../ops/arithmetic.ts';
import { gatherRows } from '../ops/gather.ts';
import { rmsNorm } from '../ops/rms-norm.ts';
import { reshape } from '../ops/shape.ts';
import { siluMul } from '../ops/silu.ts';
import { split } from '../ops/slice.ts';
import { cachedAttention, rotaryAt } from './cached-attention.ts';
import { fewRowsGated, isFew, stepProduct } from './few-rows.ts';
import type { StepForm } from './few-rows.ts';

export interface CacheShape extends StepForm {
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

interface Block extends StepForm {
  readonly config: DecoderConfig;
  /** A weight of the block by role or, joined, by name. */
  readonly weight: (name: string, shape: readonly number[]) => Value;
}

type Projection = readonly [role: LinearRole, out: number, bias?: BlockRole | undefined];

/** x [T,in] -> [T,out] without the adapter. */
function product(x: Value, block: Block, name: string, out: number, bias?: string): Value {
  const matrix = block.weight(name, [out, x.shape[1]!]);
  return stepProduct(x, matrix, block, bias === undefined ? undefined : block.weight(bias, [out]));
}

/** y, the product of x, with the share of the layer's adapter where it has one. */
function adapted(y: Value, x: Value, role: LinearRole, { config, form, weight }: Block): Value {
  const { lora, operands } = form;
  if (!lora?.targets.includes(role)) return y;
  const [a, b] = (['A', 'B'] as const).map((side) => {
    const name = adapterRole(role, side);
    return weight(name, adapterShape(config, lora, name));
  }) as [Value, Value];
  return withAdapter(y, x, { a, b, scale: adapterScale(lora) }, operands);
}

/** x [T,D] -> [T,out] for each of the roles. */
const projections = (x: Value, block: Block, roles: readonly Projection[]): readonly Value[] =>
  roles.map(([role, out, bias]) => adapted(product(x, block, role, out, bias), x, role, block));

/** The same from one matrix of that name, with one bias where it has one. */
function joinedProjections(
  x: Value,
  block: Block,
  name: string,
  roles: readonly Projection[],
): readonly Value[] {
  const outs = roles.map(([, out]) => out);
  const width = outs.reduce((total, out) => total + out, 0);
  const bias = roles[0]![2] === undefined ? undefined : `${name}_bias`;
  return split(product(x, block, name, width, bias), 1, outs).map((y, i) =>
    adapted(y, x, roles[i]![0], block),
  );
}

const project = (x: Value, block: Block, joined: boolean, name: string, roles: readonly Projection[]) =>
  joined ? joinedProjections(x, block, name, roles) : projections(x, block, roles);

function cachedBlock(
  graph: Graph,
  config: DecoderConfig,
  { B, capacity, joined, form, onCpu }: CacheShape,
  S: number,
  layer: number,
  x: Value,
  at: Positions,
): Value {
  const { hiddenSize: D, heads: H, kvHeads: KV, headSize: hd, rmsNormEps } = config;
  const weight: Block['weight'] = (name, shape) => graph.input(`${layer}.${name}`, 'float32', shape);
  const block = { config, form, onCpu, weight };
  const normal = rmsNorm(x, weight('attentionNorm', [D]), rmsNormEps);
  const bias = (role: BlockRole) => (config.qkvBias ? role : undefined);
  const [q, k, v] = project(normal, block, joined, 'qkv', [
    ['q', H * hd, bias('qBias')],
    ['k', KV * hd, bias('kBias')],
    ['v', KV * hd, bias('vBias')],
  ]) as [Value, Value, Value];
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
  const mixed = add(x, projections(reshape(attended.output, [B * S, H * hd]), block, [['o', D]])[0]!);
  return add(mixed, gated(rmsNorm(mixed, weight('mlpNorm', [D]), rmsNormEps), block, joined));
}

/** x [T,D] -> [T,D]. */
function gated(x: Value, block: Block, joined: boolean): Value {
  const { config, form, weight } = block;
  const { hiddenSize: D, intermediateSize: F } = config;
  if (joined && form.lora === undefined && isFew(x, block))
    return fewRowsGated(x, weight('gate_up', [2 * F, D]), weight('down', [D, F]));
  const [gate, up] = project(x, block, joined, 'gate_up', [
    ['gate', F],
    ['up', F],
  ]) as [Value, Value];
  return projections(siluMul(gate, up), block, [['down', D]])[0]!;
}

// One sequence through a model's graphs, forward and back, one graph after the other: what the graphs compute whatever
// the learner makes of them.
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';
import {
  blockInputRoles,
  blockRecomputingGraph,
  blockScoringGraph,
  blockTrainingGraphs,
  trainedRoles,
} from '../../../runner/engine/models/decoder-block.ts';
import type { BlockInputRole } from '../../../runner/engine/models/decoder-block.ts';
import { Graph } from '../../../runner/engine/graph/graph.ts';
import { embeddingGraph, headTrainingGraph, logitsOf } from '../../../runner/engine/models/decoder-ends.ts';
import {
  blockTensorName,
  embeddingName,
  finalNormName,
  headName,
} from '../../../runner/engine/models/decoder-tensors.ts';
import type { BlockRole } from '../../../runner/engine/models/decoder-tensors.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import { adapterTensorName } from '../../../runner/engine/models/lora.ts';
import type { AdapterRole } from '../../../runner/engine/models/lora.ts';
import type { ModelForm } from '../../../runner/engine/models/model-form.ts';
import type { Runtime, TensorData } from '../../../runner/engine/ort/runtime.ts';
import { evaluate } from '../graph/compiled-graph.ts';

type Feeds = Readonly<Record<string, TensorData>>;

export interface GraphModel {
  readonly runtime: Runtime;
  readonly config: DecoderConfig;
  readonly form: ModelForm;
  /** Base tensors and adapters by name. */
  readonly tensors: Weights;
}

export interface Pass {
  /** [S,V]. */
  readonly logits: Float32Array;
  readonly logProbs: Float32Array;
  /** By name: what blocks train. */
  readonly gradients: ReadonlyMap<string, Float32Array>;
  /** Outputs of the head's training graph. */
  readonly headOutputs: readonly string[];
}

const nameOf = (layer: number, role: BlockInputRole): string =>
  role.includes('_lora_')
    ? adapterTensorName(layer, role as AdapterRole)
    : blockTensorName(layer, role as BlockRole);

const blockFeeds = ({ config, form, tensors }: GraphModel, layer: number): Feeds =>
  Object.fromEntries(
    blockInputRoles(config, form).map((role) => [role, tensors.get(nameOf(layer, role))!.data]),
  );

/** Only what a graph declares. */
async function run(runtime: Runtime, graph: Graph, feeds: Feeds): Promise<Record<string, TensorData>> {
  const used = [...graph.inputs.keys()].map((name) => [name, feeds[name]!] as const);
  return await evaluate(runtime, graph, Object.fromEntries(used));
}

async function logitsAfter({ runtime, config, form, tensors }: GraphModel, x: TensorData) {
  const graph = new Graph();
  const { hiddenSize: D, vocabSize: V } = config;
  const input = (name: string, shape: number[]) => graph.input(name, 'float32', shape);
  graph.output(
    'logits',
    logitsOf(input('x', [x.length / D, D]), input('norm', [D]), input('head', [V, D]), config, form),
  );
  const ends = { norm: tensors.get(finalNormName)!.data, head: tensors.get(headName(config))!.data };
  return (await run(runtime, graph, { x, ...ends }))['logits'] as Float32Array;
}

async function hiddenStates(model: GraphModel, ids: readonly number[]): Promise<TensorData[]> {
  const { runtime, config, form, tensors } = model;
  const feeds = { table: tensors.get(embeddingName)!.data, tokens: Int32Array.from(ids) };
  const hidden = [(await run(runtime, embeddingGraph(config, ids.length), feeds))['y']!];
  for (let layer = 0; layer < config.layers; layer++) {
    const graph = blockScoringGraph(config, { batch: 1, length: ids.length }, form);
    hidden.push((await run(runtime, graph, { x: hidden.at(-1)!, ...blockFeeds(model, layer) }))['y']!);
  }
  return hidden;
}

/** Gradients of loss = - sum weights[t] log pi(ids[t]), with kept or recomputed activations. */
export async function graphPass(
  model: GraphModel,
  ids: readonly number[],
  weights: readonly number[],
  temperature: number,
  recompute: boolean,
): Promise<Pass> {
  const { runtime, config, form, tensors } = model;
  const shape = { batch: 1, length: ids.length };
  const hidden = await hiddenStates(model, ids);
  const head = await run(runtime, headTrainingGraph(config, ids.length, false, form), {
    x: hidden.at(-1)!,
    norm: tensors.get(finalNormName)!.data,
    head: tensors.get(headName(config))!.data,
    // The last row has no next token: its weight is 0.
    targets: Int32Array.from([...ids.slice(1), 0]),
    weights: Float32Array.from([...weights.slice(1), 0]),
    inverse_temperature: Float32Array.of(1 / temperature),
  });
  const gradients = new Map<string, Float32Array>();
  let d_y = head['d_x']!;
  for (let layer = config.layers - 1; layer >= 0; layer--) {
    const feeds = { x: hidden[layer]!, d_y, ...blockFeeds(model, layer) };
    const back = recompute
      ? await run(runtime, blockRecomputingGraph(config, shape, false, form), feeds)
      : await keptBackward(runtime, blockTrainingGraphs(config, shape, false, form), feeds);
    for (const role of trainedRoles(config, form))
      gradients.set(nameOf(layer, role), back[`d_${role}`] as Float32Array);
    d_y = back['d_x']!;
  }
  return {
    logits: await logitsAfter(model, hidden.at(-1)!),
    logProbs: head['log_probs'] as Float32Array,
    gradients,
    headOutputs: Object.keys(head),
  };
}

async function keptBackward(
  runtime: Runtime,
  { forward, backward }: ReturnType<typeof blockTrainingGraphs>,
  feeds: Feeds,
): Promise<Record<string, TensorData>> {
  const { y: _, ...kept } = await run(runtime, forward, feeds);
  return await run(runtime, backward, { ...feeds, ...kept });
}

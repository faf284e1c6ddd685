// Models as ONNX Runtime's WebGPU provider can run them: nodes for which it has no kernel become several for which it
// has. It happens when a session is compiled, so that graphs are written once, for every provider. What is not listed
// here and has no kernel there is refused by ONNX Runtime, since the CPU may not step in.
import { attributeTypes, dataTypes, ModelProto } from '../onnx/schema.ts';

interface Attribute {
  readonly name: string;
  readonly i?: unknown;
}

interface Node {
  readonly op_type: string;
  readonly domain?: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly attribute?: readonly Attribute[];
}

interface ValueInfo {
  readonly name: string;
  readonly type?: { readonly tensor_type?: { readonly shape?: { readonly dim: readonly unknown[] } } };
}

interface Graph {
  node: readonly Node[];
  initializer: readonly { readonly name: string; readonly dims: readonly unknown[] }[];
  readonly input: readonly ValueInfo[];
  readonly output: readonly ValueInfo[];
  readonly value_info: readonly ValueInfo[];
}

interface Site {
  /** A name that no other value has. */
  fresh(): string;
  /** Number of dimensions of a value; throws where the model does not say. */
  rank(name: string): number;
  /** An int64 initializer that holds -1: the last axis, for reductions. */
  lastAxis(): string;
}

type Rule = (node: Node, site: Site) => readonly Node[];

const intAttribute = (node: Node, name: string): number =>
  Number(node.attribute?.find((attribute) => attribute.name === name)?.i ?? 0);
const int = (name: string, i: number) => ({ name, type: attributeTypes.int, i });

/** Products with a transposed operand: Gemm transposes on the way, batches need a copy. */
const fusedMatMul: Rule = (node, site) => {
  const [a, b] = node.input as [string, string];
  const [transA, transB] = [intAttribute(node, 'transA'), intAttribute(node, 'transB')];
  const [rankA, rankB] = [site.rank(a), site.rank(b)];
  if (rankA === 2 && rankB === 2) {
    const attribute = [int('transA', transA), int('transB', transB)];
    return [{ op_type: 'Gemm', input: [a, b], output: node.output, attribute }];
  }
  const nodes: Node[] = [];
  const swapped = (name: string, rank: number, wanted: number): string => {
    if (wanted === 0) return name;
    const output = site.fresh();
    const ints = Array.from({ length: rank }, (_, axis) => axis);
    ints.splice(-2, 2, rank - 1, rank - 2);
    const perm = { name: 'perm', type: attributeTypes.ints, ints };
    nodes.push({ op_type: 'Transpose', input: [name], output: [output], attribute: [perm] });
    return output;
  };
  const input = [swapped(a, rankA, transA), swapped(b, rankB, transB)];
  return [...nodes, { op_type: 'MatMul', input, output: node.output }];
};

/** x - max - log(sum(exp(x - max))), over the last axis. */
const logSoftmax: Rule = (node, site) => {
  if (intAttribute(node, 'axis') !== -1)
    throw new Error('internal: LogSoftmax over another axis than the last');
  const x = node.input[0] as string;
  const [top, shifted, mass, total, log] = Array.from({ length: 5 }, () => site.fresh()) as [
    string,
    string,
    string,
    string,
    string,
  ];
  return [
    { op_type: 'ReduceMax', input: [x, site.lastAxis()], output: [top] },
    { op_type: 'Sub', input: [x, top], output: [shifted] },
    { op_type: 'Exp', input: [shifted], output: [mass] },
    { op_type: 'ReduceSum', input: [mass, site.lastAxis()], output: [total] },
    { op_type: 'Log', input: [total], output: [log] },
    { op_type: 'Sub', input: [shifted, log], output: node.output },
  ];
};

/** a or b = not (not a and not b). */
const or: Rule = (node, site) => {
  const [notA, notB, neither] = [site.fresh(), site.fresh(), site.fresh()];
  return [
    { op_type: 'Not', input: [node.input[0] as string], output: [notA] },
    { op_type: 'Not', input: [node.input[1] as string], output: [notB] },
    { op_type: 'And', input: [notA, notB], output: [neither] },
    { op_type: 'Not', input: [neither], output: node.output },
  ];
};

const rules: Readonly<Record<string, Rule>> = { FusedMatMul: fusedMatMul, LogSoftmax: logSoftmax, Or: or };

/** The model's bytes where there is nothing to change, or where they are no model: ONNX Runtime says that better. */
export function lowerForWebgpu(model: Uint8Array): Uint8Array {
  const decoded = decode(model);
  if (!decoded?.graph.node.some(({ op_type }) => Object.hasOwn(rules, op_type))) return model;
  const { graph } = decoded;
  const site = new GraphSite(graph);
  graph.node = graph.node.flatMap((node) => rules[node.op_type]?.(node, site) ?? [node]);
  if (site.usesLastAxis) {
    const raw_data = new Uint8Array(BigInt64Array.of(-1n).buffer);
    const axis = { name: lastAxisName, dims: [1], data_type: dataTypes.int64, raw_data };
    graph.initializer = [...graph.initializer, axis];
  }
  return ModelProto.encode(decoded as any).finish();
}

const lastAxisName = '/webgpu/last_axis';

function decode(model: Uint8Array): { readonly graph: Graph } | undefined {
  try {
    const decoded = ModelProto.decode(model) as unknown as { graph: Graph | null };
    return decoded.graph === null ? undefined : { ...decoded, graph: decoded.graph };
  } catch {
    return undefined;
  }
}

class GraphSite implements Site {
  usesLastAxis = false;
  readonly #ranks: ReadonlyMap<string, number | undefined>;
  #fresh = 0;

  constructor({ input, output, value_info, initializer }: Graph) {
    const declared = [...input, ...output, ...value_info];
    this.#ranks = new Map([
      ...declared.map(({ name, type }) => [name, type?.tensor_type?.shape?.dim.length] as const),
      ...initializer.map(({ name, dims }) => [name, dims.length] as const),
    ]);
  }

  fresh(): string {
    this.#fresh += 1;
    return `/webgpu/${this.#fresh}`;
  }

  rank(name: string): number {
    const rank = this.#ranks.get(name);
    if (rank === undefined)
      throw new Error(`the model does not say what shape ${name} has, WebGPU needs its rank`);
    return rank;
  }

  lastAxis(): string {
    this.usesLastAxis = true;
    return lastAxisName;
  }
}

// What products with weights round their operands to where a runtime computes: nothing on the cpu, float16 on webgpu,
// bfloat16 on cuda. Not every adapter multiplies such numbers (WebGPU's shader-f16), and neither ONNX Runtime's C API nor
// its options tell: a small product is tried, forward as graphs of training have it. Learner and sampler of a policy take
// the same choice, so that rollouts come from the policy that is trained.
import { Graph } from '../graph/graph.ts';
import { serialize } from '../onnx/serialize.ts';
import type { HalfOperands } from '../ops/half-operands.ts';
import { gemm } from '../ops/matmul.ts';
import { OrtError } from '../ort/ort-error.ts';
import type { Provider, Runtime } from '../ort/runtime.ts';
import { Scope } from '../ort/scope.ts';

export interface OperandChoice {
  /** Undefined: products of float32. */
  readonly operands: HalfOperands | undefined;
  /** Why not the 16-bit type of this provider, where it has one. */
  readonly instead?: string;
}

const wanted: Readonly<Record<Provider, HalfOperands['type'] | undefined>> = {
  cpu: undefined,
  webgpu: 'float16',
  cuda: 'bfloat16',
};

export type Precision = 'float32' | HalfOperands['type'];

export const precisionOf = (operands: HalfOperands | undefined): Precision => operands?.type ?? 'float32';

export async function chooseOperands(runtime: Runtime): Promise<OperandChoice> {
  const type = wanted[runtime.provider];
  if (type === undefined) return { operands: undefined };
  const operands = { type, emulated: false };
  const failure = await failureOf(runtime, operands);
  if (failure === undefined) return { operands };
  return {
    operands: undefined,
    instead: `this ${runtime.provider} device does not multiply ${type}: ${failure}`,
  };
}

const size = 8;

/** Why a product of 16-bit operands cannot be had, or is none. */
async function failureOf(runtime: Runtime, operands: HalfOperands): Promise<string | undefined> {
  const scope = new Scope();
  try {
    const label = `product of ${operands.type}`;
    const session = scope.own(
      await runtime.createSession(serialize(productGraph(operands), label), { label }),
    );
    const tensor = (fill: number) =>
      scope.own(runtime.tensor('float32', [size, size], new Float32Array(size * size).fill(fill)));
    const product = tensor(0);
    const inputs = { x: tensor(0.5), weight: tensor(0.25), addend: tensor(3) };
    await scope.own(session.bind(inputs, { product })).run();
    const wrong = (product.data as Float32Array).find((value) => value !== 3 + size / 8);
    return wrong === undefined ? undefined : `it gives ${wrong} for ${3 + size / 8}`;
  } catch (error) {
    if (error instanceof OrtError) return reasonIn(error.message);
    throw error;
  } finally {
    scope[Symbol.dispose]();
  }
}

/** ONNX Runtime puts nodes and source positions in front of what it has to say. */
const reasonIn = (message: string): string =>
  message
    .split('Status Message: ')
    .at(-1)!
    .split('\n')[0]!
    .replace(/^\S+\.cc:\d+ \S+ /, '');

function productGraph(operands: HalfOperands): Graph {
  const graph = new Graph();
  const input = (name: string) => graph.input(name, 'float32', [size, size]);
  const [x, weight, c] = [input('x'), input('weight'), input('addend')];
  graph.output('product', gemm(x, weight, { transB: true, operands, c }));
  return graph;
}

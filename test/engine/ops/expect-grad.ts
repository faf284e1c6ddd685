// The one gradient check: central differences of the same graph in float64, then float32 against float64. The second
// step covers the float32 emission where it differs (contrib kernels) at a tolerance that differences could not give.
import { expect } from 'vitest';
import type { Runtime, TensorData } from '../../../runner/engine/ort/runtime.ts';
import { CompiledGraph } from '../graph/compiled-graph.ts';
import { buildCase } from './op-case.ts';
import type { BuiltCase, OpCase } from './op-case.ts';

/** Inputs larger than this are sampled at so many evenly spaced elements. */
const probesPerInput = 40;
const differenceTolerance = 1e-6;

export async function expectGrad(runtime: Runtime, opCase: OpCase): Promise<void> {
  const built = buildCase(opCase, 'small', 'float64');
  using exact = await CompiledGraph.compile(runtime, built.graph, `${opCase.name} float64`);
  exact.feed(built.feeds);
  exact.run();
  const reference = exact.outputs();
  for (const name of built.differentiated) {
    expectDifferences(exact, built, name, reference[`d_${name}`] as Float64Array);
  }
  await expectFloat32(runtime, opCase, reference);
}

function expectDifferences(
  compiled: CompiledGraph,
  built: BuiltCase,
  name: string,
  gradient: Float64Array,
): void {
  const input = compiled.input(name) as Float64Array;
  const scale = largest(gradient);
  expect(scale, `d_${name} is zero everywhere: the case tests nothing`).toBeGreaterThan(0);
  const stride = Math.max(1, Math.floor(input.length / probesPerInput));
  for (let i = 0; i < input.length; i += stride) {
    const difference = centralDifference(compiled, built, input, i);
    const error = Math.abs(difference - (gradient[i] as number)) / scale;
    expect(error, `d_${name}[${i}] is ${gradient[i]}, central difference ${difference}`).toBeLessThan(
      differenceTolerance,
    );
  }
}

function centralDifference(
  compiled: CompiledGraph,
  built: BuiltCase,
  input: Float64Array,
  i: number,
): number {
  const x = input[i] as number;
  const h = 1e-5;
  const lossAt = (moved: number) => {
    input[i] = moved;
    compiled.run();
    return loss(compiled, built);
  };
  const difference = (lossAt(x + h) - lossAt(x - h)) / (2 * h);
  input[i] = x;
  return difference;
}

/** Sum over float outputs of <output, cotangent>. */
function loss(compiled: CompiledGraph, built: BuiltCase): number {
  let sum = 0;
  for (const [index, name] of built.outputs.entries()) {
    const cotangent = built.feeds[`c_${index}`] as Float64Array | undefined;
    if (!cotangent) continue;
    const output = compiled.output(name) as Float64Array;
    for (let i = 0; i < output.length; i++) sum += (output[i] as number) * (cotangent[i] as number);
  }
  return sum;
}

async function expectFloat32(
  runtime: Runtime,
  opCase: OpCase,
  reference: Readonly<Record<string, TensorData>>,
): Promise<void> {
  const built = buildCase(opCase, 'small', 'float32');
  using single = await CompiledGraph.compile(runtime, built.graph, `${opCase.name} float32`);
  single.feed(built.feeds);
  single.run();
  for (const [name, data] of Object.entries(single.outputs())) {
    expectClose(data, reference[name] as TensorData, opCase.tolerance ?? 2e-5, name);
  }
}

/** Every element within `tolerance` of the reference, relative to the reference's largest magnitude. */
export function expectClose(
  actual: TensorData,
  reference: TensorData,
  tolerance: number,
  name: string,
): void {
  expect(actual.length, name).toBe(reference.length);
  const scale = Math.max(largest(reference), 1e-30);
  for (let i = 0; i < actual.length; i++) {
    const error = Math.abs(Number(actual[i]) - Number(reference[i])) / scale;
    if (!(error <= tolerance)) {
      expect.fail(`${name}[${i}] is ${actual[i]}, expected ${reference[i]} within ${tolerance} of ${scale}`);
    }
  }
}

function largest(data: TensorData): number {
  let max = 0;
  for (let i = 0; i < data.length; i++) max = Math.max(max, Math.abs(Number(data[i])));
  return max;
}

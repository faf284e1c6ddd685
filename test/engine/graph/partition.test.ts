// A block split into forward and backward sessions computes what the whole graph computes, bit for bit, and hands
// over only what it must.
import { describe, expect, it } from 'vitest';
import { gradients } from '../../../runner/engine/graph/grad.ts';
import { Graph } from '../../../runner/engine/graph/graph.ts';
import type { Value } from '../../../runner/engine/graph/graph.ts';
import { partition } from '../../../runner/engine/graph/partition.ts';
import { add, mul } from '../../../runner/engine/ops/arithmetic.ts';
import { gemm, matmul, swapLastTwo } from '../../../runner/engine/ops/matmul.ts';
import { rmsNorm } from '../../../runner/engine/ops/rms-norm.ts';
import { reshape, transpose } from '../../../runner/engine/ops/shape.ts';
import { siluMul } from '../../../runner/engine/ops/silu.ts';
import { causalSoftmax } from '../../../runner/engine/ops/softmax.ts';
import { sigmoid } from '../../../runner/engine/ops/unary.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { TensorData } from '../../../runner/engine/ort/runtime.ts';
import { evaluate } from './compiled-graph.ts';

const [batch, heads, length, headSize, hidden] = [2, 2, 8, 4, 24];
const width = heads * headSize;

/** Pre-norm attention (one projection for all of q, k, v) and a gated feed-forward, with residuals. */
function block(graph: Graph): { y: Value; wrt: Record<string, Value> } {
  const input = (name: string, ...shape: number[]) => graph.input(name, 'float32', shape);
  const wrt = {
    x: input('x', batch * length, width),
    norm1: input('norm1', width),
    query: input('query', width, width),
    key: input('key', width, width),
    value: input('value', width, width),
    out: input('out', width, width),
    norm2: input('norm2', width),
    gate: input('gate', hidden, width),
    up: input('up', hidden, width),
    down: input('down', width, hidden),
  };
  const linear = (a: Value, weight: Value) => gemm(a, weight, { transB: true });
  const perHead = (a: Value) => transpose(reshape(a, [batch, length, heads, headSize]), [0, 2, 1, 3]);
  const normed = rmsNorm(wrt.x, wrt.norm1, 1e-5);
  const [q, k, v] = [wrt.query, wrt.key, wrt.value].map((weight) => perHead(linear(normed, weight))) as [
    Value,
    Value,
    Value,
  ];
  const probabilities = causalSoftmax(matmul(mul(q, headSize ** -0.5), swapLastTwo(k)));
  const merged = reshape(transpose(matmul(probabilities, v), [0, 2, 1, 3]), [-1, width]);
  const attended = add(wrt.x, linear(merged, wrt.out));
  const normed2 = rmsNorm(attended, wrt.norm2, 1e-5);
  const gated = siluMul(linear(normed2, wrt.gate), linear(normed2, wrt.up));
  return { y: add(attended, linear(gated, wrt.down)), wrt };
}

function feedsFor(graph: Graph): Record<string, TensorData> {
  return Object.fromEntries(
    [...graph.inputs].map(([name, { shape }], which) => {
      const data = new Float32Array(shape.reduce((product, size) => product * size, 1));
      return [name, data.map((_, i) => Math.sin(1 + which + i * 0.7))];
    }),
  );
}

const pick = (graph: Graph, values: Record<string, TensorData>) =>
  Object.fromEntries([...graph.inputs.keys()].map((name) => [name, values[name] as TensorData]));

describe('partition', () => {
  it('of a transformer block equals the whole graph bit for bit', async () => {
    using runtime = createRuntime({ threads: 2 });
    const joint = new Graph();
    const { y, wrt } = block(joint);
    const dy = joint.input('dy', 'float32', y.shape);
    const grads = gradients([{ value: y, cotangent: dy }], Object.values(wrt));
    const backwardOutputs = Object.fromEntries(
      Object.keys(wrt).map((name, index) => [`d_${name}`, grads[index] as Value]),
    );
    const { forward, backward, kept } = partition(joint, { forwardOutputs: { y }, backwardOutputs });
    joint.output('y', y);
    for (const [name, value] of Object.entries(backwardOutputs)) joint.output(name, value);

    const feeds = feedsFor(joint);
    const whole = await evaluate(runtime, joint, feeds);
    const ahead = await evaluate(runtime, forward, pick(forward, feeds));
    const back = await evaluate(runtime, backward, pick(backward, { ...feeds, ...ahead }));

    expect(ahead['y']).toEqual(whole['y']);
    for (const name of Object.keys(backwardOutputs)) expect(back[name], name).toEqual(whole[name]);
    expect([...forward.inputs.keys()]).not.toContain('dy');
    expect([...forward.outputs.keys()].sort()).toEqual(['y', ...kept.map(({ name }) => name)].sort());
  });

  it('keeps neither inputs, nor constants, nor cheap views, nor what only the backward computes', () => {
    const joint = new Graph();
    const x = joint.input('x', 'float32', [2, 3]);
    const weight = joint.input('weight', 'float32', [3, 3]);
    const hiddenValue = gemm(x, weight);
    const view = reshape(hiddenValue, [6]);
    const y = mul(mul(view, view), joint.constant('float32', [6], new Float32Array(6).fill(2)));
    const dy = joint.input('dy', 'float32', [6]);
    const [dx] = gradients([{ value: y, cotangent: dy }], [x]) as [Value];
    const { backward, kept } = partition(joint, {
      forwardOutputs: { y },
      backwardOutputs: { dx },
    });
    expect(kept.map(({ value }) => value)).toEqual([hiddenValue]);
    expect([...backward.inputs.keys()].sort()).toEqual(['dy', 'kept_0', 'weight']);
  });

  it('serves a forward value as a backward output', () => {
    const joint = new Graph();
    const x = joint.input('x', 'float32', [2]);
    const y = sigmoid(x);
    const { forward, backward, kept } = partition(joint, {
      forwardOutputs: { y },
      backwardOutputs: { again: y },
    });
    expect(kept.map(({ value }) => value)).toEqual([y]);
    expect([...forward.outputs.keys()]).toEqual(['y', 'kept_0']);
    expect([...backward.inputs.keys()]).toEqual(['kept_0']);
  });
});

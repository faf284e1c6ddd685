// The one exception to spare buffers: key/value caches that GroupQueryAttention updates where they lie (sharedBuffers).
// On WebGPU with every dispatch checked, step by step against the CPU.
import { describe, expect, it } from 'vitest';
import { Graph } from '../../../runner/engine/graph/graph.ts';
import { serialize } from '../../../runner/engine/onnx/serialize.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { Scope } from '../../../runner/engine/ort/scope.ts';
import { cachedAttention } from '../../../runner/engine/sampler/cached-attention.ts';
import { besideCpu } from '../../support/beside-cpu.ts';
import { noWebgpu, webgpuRuntime } from '../../support/webgpu.ts';

const [B, heads, kvHeads, hd, capacity] = [3, 4, 2, 16, 8];
const cacheDims = [B, kvHeads, capacity, hd];
const wave = (count: number, phase: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(phase + i * 1.3));

function decodeStep(): Graph {
  const graph = new Graph();
  const step = cachedAttention(
    {
      query: graph.input('query', 'float32', [B, 1, heads * hd]),
      key: graph.input('key', 'float32', [B, 1, kvHeads * hd]),
      value: graph.input('value', 'float32', [B, 1, kvHeads * hd]),
      keyCache: graph.input('key_cache', 'float32', cacheDims),
      valueCache: graph.input('value_cache', 'float32', cacheDims),
      lastPositions: graph.input('last_positions', 'int32', [B]),
      longest: graph.input('longest', 'int32', []),
    },
    { heads, kvHeads },
  );
  graph.output('output', step.output);
  graph.output('key_cache_out', step.keyCache);
  graph.output('value_cache_out', step.valueCache);
  return graph;
}

/** Outputs of every step and the caches at the end; rows are of different length from the start. */
async function decode(runtime: Runtime, steps: number): Promise<Float32Array[]> {
  const scope = new Scope();
  try {
    const options = { sharedBuffers: true, label: 'decode' };
    const session = scope.own(await runtime.createSession(serialize(decodeStep()), options));
    const host = (dims: number[]) => scope.own(runtime.tensor('float32', dims));
    const inputs = {
      query: host([B, 1, heads * hd]),
      key: host([B, 1, kvHeads * hd]),
      value: host([B, 1, kvHeads * hd]),
      key_cache: scope.own(runtime.allocate('float32', cacheDims)),
      value_cache: scope.own(runtime.allocate('float32', cacheDims)),
      last_positions: scope.own(runtime.tensor('int32', [B])),
      longest: scope.own(runtime.tensor('int32', [])),
    };
    const output = host([B, 1, heads * hd]);
    const caches = { key_cache_out: inputs.key_cache, value_cache_out: inputs.value_cache };
    const binding = scope.own(session.bind(inputs, { output, ...caches }));
    const found: Float32Array[] = [];
    for (let step = 0; step < steps; step += 1) {
      inputs.query.data.set(wave(B * heads * hd, step) as never);
      inputs.key.data.set(wave(B * kvHeads * hd, 10 + step) as never);
      inputs.value.data.set(wave(B * kvHeads * hd, 20 + step) as never);
      const positions = Array.from({ length: B }, (_, row) => step + row);
      inputs.last_positions.data.set(positions as never);
      inputs.longest.data.set([step + B] as never);
      if (step % 2 === 0) binding.runSync();
      else await binding.run();
      found.push((output.data as Float32Array).slice());
    }
    for (const cache of [inputs.key_cache, inputs.value_cache])
      found.push((await cache.read()) as Float32Array);
    return found.map((array) => array.slice());
  } finally {
    scope[Symbol.dispose]();
  }
}

describe.skipIf(noWebgpu)(`shared caches on WebGPU${noWebgpu ? ` (skipped: ${noWebgpu})` : ''}`, () => {
  const both = besideCpu(webgpuRuntime);

  it('hold over five steps what those of the CPU hold', async () => {
    const [expected, found] = [await decode(both.cpu, 5), await decode(both.runtime, 5)];
    expected.forEach((array, i) => {
      expect(array.some((x) => x !== 0)).toBe(true);
      array.forEach((x, j) => expect(found[i]![j]).toBeCloseTo(x, 5));
    });
    expect(both.runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
  });
});

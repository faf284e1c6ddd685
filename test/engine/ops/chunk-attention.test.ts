// Attention over query chunks against loops in float64: contexts and all three gradients, with grouped queries, chunk by
// chunk with fewer keys than the sequence has, sums over chunks included.
import { afterAll, expect, test } from 'vitest';
import { keysOfChunk } from '../../../runner/engine/learner/chunk-sessions.ts';
import {
  chunkAttentionBackwardGraph,
  chunkAttentionGraph,
} from '../../../runner/engine/models/decoder-chunks.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import { tinyConfig } from '../models/tiny-config.ts';
import { CompiledGraph } from '../graph/compiled-graph.ts';

const runtime = createRuntime();
afterAll(() => runtime[Symbol.dispose]());

const [H, KV, hd, S, C] = [6, 2, 8, 96, 8];
const config = { ...tinyConfig, heads: H, kvHeads: KV, headSize: hd };
const wave = (count: number, phase: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(phase + i * 1.7) * 1.2);
const given = {
  queries: wave(S * H * hd, 1),
  keys: wave(S * KV * hd, 2),
  values: wave(S * KV * hd, 3),
  d_context: wave(S * H * hd, 4),
};

/** Everything in loops: [S,H*hd] and [S,KV*hd], token by token. */
function reference(): Record<string, Float64Array> {
  const { queries, keys, values, d_context } = given;
  const zeros = (heads: number): Float64Array => new Float64Array(S * heads * hd);
  const result = { context: zeros(H), d_queries: zeros(H), d_keys: zeros(KV), d_values: zeros(KV) };
  const at = (token: number, head: number, heads: number): number => (token * heads + head) * hd;
  const dot = (a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number): number => {
    let sum = 0;
    for (let d = 0; d < hd; d++) sum += a[i + d]! * b[j + d]!;
    return sum;
  };
  const add = (into: Float64Array, i: number, scale: number, from: ArrayLike<number>, j: number): void => {
    for (let d = 0; d < hd; d++) into[i + d]! += scale * from[j + d]!;
  };
  for (let h = 0; h < H; h++) {
    const kv = Math.floor(h / (H / KV));
    for (let i = 0; i < S; i++) {
      const q = at(i, h, H);
      const exponentials = Array.from({ length: i + 1 }, (_, j) =>
        Math.exp(dot(queries, q, keys, at(j, kv, KV))),
      );
      const total = exponentials.reduce((sum, x) => sum + x, 0);
      const p = exponentials.map((x) => x / total);
      p.forEach((weight, j) => add(result.context, q, weight, values, at(j, kv, KV)));
      const dp = p.map((_, j) => dot(d_context, q, values, at(j, kv, KV)));
      const mean = p.reduce((sum, weight, j) => sum + weight * dp[j]!, 0);
      p.forEach((weight, j) => {
        const k = at(j, kv, KV);
        add(result.d_values, k, weight, d_context, q);
        add(result.d_queries, q, weight * (dp[j]! - mean), keys, k);
        add(result.d_keys, k, weight * (dp[j]! - mean), queries, q);
      });
    }
  }
  return result;
}

async function overChunks(): Promise<Record<string, Float32Array>> {
  const result = {
    context: new Float32Array(S * H * hd),
    d_queries: new Float32Array(S * H * hd),
    d_keys: new Float32Array(S * KV * hd),
    d_values: new Float32Array(S * KV * hd),
  };
  for (let chunk = 0; chunk < S / C; chunk++) {
    const keys = keysOfChunk(S, C, chunk);
    const shape = { queries: C, keys };
    const [begin, end] = [chunk * C * H * hd, (chunk + 1) * C * H * hd];
    const inputs = {
      queries: given.queries.subarray(begin, end),
      keys: given.keys.subarray(0, keys * KV * hd),
      values: given.values.subarray(0, keys * KV * hd),
      offset: Int32Array.of(chunk * C),
    };
    using forward = await CompiledGraph.compile(runtime, chunkAttentionGraph(config, shape));
    forward.feed(inputs);
    forward.run();
    const context = forward.output('context') as Float32Array;
    result.context.set(context, begin);
    using backward = await CompiledGraph.compile(runtime, chunkAttentionBackwardGraph(config, shape));
    backward.feed({
      ...inputs,
      context,
      d_context: given.d_context.subarray(begin, end),
      previous_d_keys: result.d_keys.subarray(0, keys * KV * hd),
      previous_d_values: result.d_values.subarray(0, keys * KV * hd),
    });
    backward.run();
    result.d_queries.set(backward.output('d_queries') as Float32Array, begin);
    result.d_keys.set(backward.output('d_keys') as Float32Array);
    result.d_values.set(backward.output('d_values') as Float32Array);
  }
  return result;
}

test('equals loops in float64', async () => {
  const [expected, found] = [reference(), await overChunks()];
  for (const [name, values] of Object.entries(expected)) {
    const largest = values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    const worst = values.reduce((most, x, i) => Math.max(most, Math.abs(x - found[name]![i]!)), 0);
    expect(worst / largest, name).toBeLessThan(1e-5);
  }
});

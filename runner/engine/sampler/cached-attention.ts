// Ops that only sampling uses: attention over a key/value cache that is updated in place, and rotation by the position
// of each row. Both are contrib ops of ONNX Runtime; neither is ever differentiated.
import { applyAll, apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectRank, expectThat, operand } from '../graph/expect.ts';
import { defineOp } from '../graph/op.ts';
import { sizeAt } from '../graph/shape.ts';

const neverTrained = { missing: 'sampling is not differentiated' } as const;

interface Heads {
  readonly heads: number;
  readonly kvHeads: number;
}

const cachedAttentionOp = defineOp<Heads>({
  name: 'cached_attention',
  infer(inputs) {
    const [query, pastKey, pastValue] = [operand(inputs, 0), operand(inputs, 3), operand(inputs, 4)];
    expectRank('cached_attention', query, 3);
    expectThat(pastKey.shape.length === 4, 'cached_attention', 'a cache [B,KV,capacity,hd]', pastKey);
    return [query, pastKey, pastValue].map(({ dtype, shape }) => ({ dtype, shape }));
  },
  emit(emitter, { from, to, attributes }) {
    emitter.node('GroupQueryAttention', from, {
      domain: 'com.microsoft',
      outputs: to,
      attributes: { num_heads: { int: attributes.heads }, kv_num_heads: { int: attributes.kvHeads } },
    });
  },
  gradient: neverTrained,
});

export interface CachedAttention {
  /** [B,S,H*hd], already rotated. */
  readonly query: Value;
  /** [B,S,KV*hd], already rotated. */
  readonly key: Value;
  readonly value: Value;
  /** [B,KV,capacity,hd]; the returned caches must be bound to the same buffers. */
  readonly keyCache: Value;
  readonly valueCache: Value;
  /** [B] int32: tokens in each row's cache after this call, minus one. */
  readonly lastPositions: Value;
  /** int32 scalar: the longest row after this call, in tokens. */
  readonly longest: Value;
}

/** Attention of S new tokens a row over all tokens of its cache, the new ones (appended by the call) included. */
export function cachedAttention(
  args: CachedAttention,
  heads: Heads,
): { output: Value; keyCache: Value; valueCache: Value } {
  const inputs = [
    args.query,
    args.key,
    args.value,
    args.keyCache,
    args.valueCache,
    args.lastPositions,
    args.longest,
  ];
  const [output, keyCache, valueCache] = applyAll(cachedAttentionOp, inputs, heads) as [Value, Value, Value];
  return { output, keyCache, valueCache };
}

const rotaryAtOp = defineOp<{ readonly heads: number }>({
  name: 'rotary_at',
  infer(inputs, { heads }) {
    const [x, positions, cos] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    const fits = x.shape.length === 3 && sizeAt(x.shape, 2) === heads * 2 * sizeAt(cos.shape, 1);
    expectThat(
      fits && positions.shape.length === 2,
      'rotary_at',
      'x [B,S,H*hd], positions [B,S], tables [capacity,hd/2]',
      x,
      positions,
      cos,
    );
    return [{ dtype: x.dtype, shape: x.shape }];
  },
  emit(emitter, { inputs, from, to, attributes }) {
    // The contrib op derives the head size from a 4-D input only; given 3-D it would need both sizes as attributes, which
    // it accepts for head sizes in multiples of 8.
    const [B, S, width] = operand(inputs, 0).shape as [number, number, number];
    const [x, positions, cos, sin] = from as [string, string, string, string];
    const { heads } = attributes;
    const rotated = (headsFirst: string): string =>
      emitter.node('RotaryEmbedding', [headsFirst, positions, cos, sin], { domain: 'com.microsoft' });
    const swapped = (y: string): string =>
      emitter.node('Transpose', [y], { attributes: { perm: { ints: [0, 2, 1, 3] } } });
    const split = (dims: readonly number[]): string => emitter.node('Reshape', [x, emitter.int64s(dims)]);
    // One token a row: heads first is the same memory.
    const rowsFirst =
      S === 1
        ? rotated(split([B, heads, 1, width / heads]))
        : swapped(rotated(swapped(split([B, S, heads, width / heads]))));
    emitter.node('Reshape', [rowsFirst, emitter.int64s([B, S, width])], { outputs: to });
  },
  gradient: neverTrained,
});

/** x [B,S,H*hd] turned by the angles of positions [B,S] (int64) in the tables cos and sin [capacity,hd/2]. */
export const rotaryAt = (x: Value, positions: Value, cos: Value, sin: Value, heads: number): Value =>
  apply(rotaryAtOp, [x, positions, cos, sin], { heads });

// How sampling's graphs name their caches: per layer key and value, in and out.
import type { Tensor } from '../ort/runtime.ts';
import type { CacheEnds } from './cache.ts';

/** `buffers`: layers x 2, in the order key, value. */
export function cacheEnds(buffers: readonly Tensor[]): CacheEnds {
  const named = buffers.map(
    (tensor, i) => [`${i >> 1}.${i % 2 === 0 ? 'key' : 'value'}_cache`, tensor] as const,
  );
  return {
    inputs: Object.fromEntries(named),
    outputs: Object.fromEntries(named.map(([name, tensor]) => [`${name}_out`, tensor])),
  };
}

// Uniform deviates by name: element i of a tensor depends on its key and i only, whatever is drawn around it.
import { philox } from '../random/philox.ts';
import type { NormalKey } from './normal.ts';

/** Fills `into` with deviates that are uniform in (-bound, bound), four from each counter of Philox. */
export function fillUniform(into: Float32Array, key: NormalKey, bound: number): void {
  for (let i = 0; i < into.length; i += 4) {
    const block = i / 4;
    const words = philox(key, [block >>> 0, Math.floor(block / 2 ** 32), 0, 0]);
    for (const [j, word] of words.entries()) into[i + j] = bound * ((word + 0.5) / 2 ** 31 - 1);
  }
}

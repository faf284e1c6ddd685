// Normal deviates by name: element i of a tensor depends on its key and i only, whatever is drawn around it.
import { philox } from '../random/philox.ts';

export type NormalKey = readonly [number, number];

/** Fills `into` with normal deviates of mean 0. Box-Muller, two pairs from each counter of Philox. */
export function fillNormal(into: Float32Array, key: NormalKey, standardDeviation: number): void {
  for (let i = 0; i < into.length; i += 4) {
    const block = i / 4;
    const words = philox(key, [block >>> 0, Math.floor(block / 2 ** 32), 0, 0]);
    for (const pair of [0, 2] as const) {
      // (word + 1) / 2^32 lies in (0, 1], so the logarithm is finite.
      const radius = standardDeviation * Math.sqrt(-2 * Math.log((words[pair] + 1) / 2 ** 32));
      const angle = (2 * Math.PI * words[pair === 0 ? 1 : 3]) / 2 ** 32;
      into[i + pair] = radius * Math.cos(angle);
      into[i + pair + 1] = radius * Math.sin(angle);
    }
  }
}

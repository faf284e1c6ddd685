// Known answers are those that the authors of Philox publish with their library (Random123, kat_vectors, philox4x32 10).
import { describe, expect, it } from 'vitest';
import { drawKey, drawStream } from '../../../runner/engine/random/draws.ts';
import { philox } from '../../../runner/engine/random/philox.ts';

describe('philox', () => {
  it.each([
    { key: [0, 0], counter: [0, 0, 0, 0], words: [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8] },
    { key: [-1, -1], counter: [-1, -1, -1, -1], words: [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd] },
    {
      key: [0xa4093822, 0x299f31d0],
      counter: [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      words: [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    },
  ])('gives the published words for key $key', ({ key, counter, words }) => {
    expect(philox(key as [number, number], counter as [number, number, number, number])).toEqual(words);
  });
});

describe('draws', () => {
  it('depend on seed, purpose, step, prompt, rollout and position, and on nothing else', () => {
    const draw = (
      seed: number,
      purpose: string,
      step: number,
      prompt: number,
      rollout: number,
      position: number,
    ) => drawStream(drawKey(seed, purpose, step), prompt, rollout)(position);
    const base = draw(7, 'rollouts/math', 3, 2, 1, 0);
    expect(draw(7, 'rollouts/math', 3, 2, 1, 0)).toBe(base);
    const others = [
      draw(8, 'rollouts/math', 3, 2, 1, 0),
      draw(7, 'rollouts/code', 3, 2, 1, 0),
      draw(7, 'rollouts/math', 4, 2, 1, 0),
      draw(7, 'rollouts/math', 3, 3, 1, 0),
      draw(7, 'rollouts/math', 3, 2, 2, 0),
      draw(7, 'rollouts/math', 3, 2, 1, 1),
    ];
    expect(new Set([base, ...others]).size).toBe(7);
  });

  it('are uniform in the open unit interval', () => {
    const draw = drawStream(drawKey(1, 'test', 0), 0, 0);
    const values = Array.from({ length: 100_000 }, (_, position) => draw(position));
    expect(Math.min(...values)).toBeGreaterThan(0);
    expect(Math.max(...values)).toBeLessThan(1);
    const counts = new Array<number>(10).fill(0);
    for (const value of values) counts[Math.floor(value * 10)]! += 1;
    // Standard deviation of a bin is 95: five of them.
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(475);
    expect(values.every((value) => Math.fround(value) === value)).toBe(true);
  });
});

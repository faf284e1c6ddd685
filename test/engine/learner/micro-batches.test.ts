import { describe, expect, it } from 'vitest';
import { bucketLength, cutMicroBatches } from '../../../runner/engine/learner/micro-batches.ts';

const sequence = (length: number, fill: number) => ({
  tokens_T: new Int32Array(length).fill(fill),
  weights_T: new Float32Array(length).fill(fill / 10),
});

describe('bucketLength', () => {
  it('pads to recurring lengths, by less than an eighth beyond 64', () => {
    expect([1, 8, 9, 32, 64, 65, 100, 128, 129, 1000].map(bucketLength)).toEqual([
      8, 8, 16, 32, 64, 72, 104, 128, 144, 1024,
    ]);
    for (let length = 64; length < 5000; length += 1) {
      const padded = bucketLength(length);
      expect(padded).toBeGreaterThanOrEqual(length);
      expect(padded).toBeLessThanOrEqual(length * 1.125 + 8);
    }
  });
});

describe('cutMicroBatches', () => {
  it('places every sequence exactly once, with its tokens and weights', () => {
    const sequences = [5, 31, 8, 9, 30, 7, 12, 64, 3].map((length, i) => sequence(length, i + 1));
    const batches = cutMicroBatches(sequences, (S) => 64 / S);
    const placed = batches.flatMap((batch) => batch.rows);
    expect([...placed].sort((a, b) => a - b)).toEqual(sequences.map((_, i) => i));
    for (const { B, S, rows, tokens_BS, weights_BS, lengths_B } of batches) {
      expect(tokens_BS).toHaveLength(B * S);
      expect(B * S).toBeLessThanOrEqual(64);
      rows.forEach((index, b) => {
        const { tokens_T, weights_T } = sequences[index]!;
        expect(lengths_B[b]).toBe(tokens_T.length);
        expect([...tokens_BS.subarray(b * S, b * S + tokens_T.length)]).toEqual([...tokens_T]);
        expect([...weights_BS.subarray(b * S, b * S + tokens_T.length)]).toEqual([...weights_T]);
        expect(tokens_BS.subarray(b * S + tokens_T.length, (b + 1) * S).every((token) => token === 0)).toBe(
          true,
        );
      });
      for (let b = rows.length; b < B; b += 1) expect(lengths_B[b]).toBe(0);
    }
  });

  it('gives one sequence longer than the budget a batch of its own', () => {
    const [batch, ...others] = cutMicroBatches([sequence(100, 1)], () => 1);
    expect(others).toEqual([]);
    expect([batch?.B, batch?.S]).toEqual([1, 104]);
  });

  it('keeps to few shapes whatever the mix', () => {
    const shapes = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      const sequences = Array.from({ length: 512 }, (_, i) => sequence(8 + ((i * 7 + round * 13) % 25), 1));
      for (const { B, S } of cutMicroBatches(sequences, (S) => 2 ** Math.floor(Math.log2(2048 / S))))
        shapes.add(`${B}x${S}`);
    }
    // Four lengths, and powers of two from what fills 256 tokens to what fills 2048.
    expect(shapes.size).toBeLessThanOrEqual(4 * 4);
  });

  it('pads by less than a tenth where a batch has many lengths', () => {
    const sequences = Array.from({ length: 128 }, (_, i) => sequence(90 + ((i * 37) % 241), 1));
    const batches = cutMicroBatches(sequences, (S) => 2 ** Math.floor(Math.log2(4096 / S)));
    const padded = batches.reduce((total, { B, S }) => total + B * S, 0);
    const tokens = sequences.reduce((total, { tokens_T }) => total + tokens_T.length, 0);
    expect(1 - tokens / padded).toBeLessThan(0.1);
  });
});

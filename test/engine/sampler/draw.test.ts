// The two-level draw against a float64 inverse CDF, over vocabularies from one word to a real model's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Graph } from '../../../runner/engine/graph/graph.ts';
import { serialize } from '../../../runner/engine/onnx/serialize.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { Scope } from '../../../runner/engine/ort/scope.ts';
import { drawKey, drawStream } from '../../../runner/engine/random/draws.ts';
import { drawTokens } from '../../../runner/engine/sampler/draw.ts';

let runtime: Runtime;
beforeAll(() => void (runtime = createRuntime()));
afterAll(() => runtime[Symbol.dispose]());

/** Draws one token a row; logits [B,V]. */
async function draw(B: number, V: number, logits: Float32Array, uniform: Float32Array, temperature: number) {
  const graph = new Graph();
  const { tokens, logProbs } = drawTokens(
    graph.input('logits', 'float32', [B, V]),
    graph.input('uniform', 'float32', [B, 1]),
    graph.input('inverse_temperature', 'float32', []),
  );
  graph.output('tokens', tokens);
  graph.output('log_probs', logProbs);
  const scope = new Scope();
  try {
    const session = scope.own(await runtime.createSession(serialize(graph)));
    const tensor = (...args: Parameters<Runtime['tensor']>) => scope.own(runtime.tensor(...args));
    const out = { tokens: new Int32Array(B), logProbs: new Float32Array(B) };
    const inputs = {
      logits: tensor('float32', [B, V], logits),
      uniform: tensor('float32', [B, 1], uniform),
      inverse_temperature: tensor('float32', [], Float32Array.of(1 / temperature)),
    };
    await scope
      .own(
        session.bind(inputs, {
          tokens: tensor('int32', [B], out.tokens),
          log_probs: tensor('float32', [B], out.logProbs),
        }),
      )
      .run();
    return out;
  } finally {
    scope[Symbol.dispose]();
  }
}

/** The word whose cumulative probability first reaches u, and every word's log-probability, in float64. */
function exact(logits: Float32Array, u: number, temperature: number) {
  const scaled = [...logits].map((z) => z / temperature);
  const top = scaled.reduce((a, b) => Math.max(a, b), -Infinity);
  const total = scaled.reduce((sum, z) => sum + Math.exp(z - top), 0);
  let cumulative = 0;
  const token = scaled.findIndex((z) => (cumulative += Math.exp(z - top) / total) >= u);
  return { token, logProb: (word: number) => scaled[word]! - top - Math.log(total) };
}

const random = drawStream(drawKey(11, 'test/draw', 0), 0, 0);

describe('drawTokens', () => {
  it.each([1, 2, 3, 16, 17, 512, 1000, 32_000, 151_936])(
    'agrees with exact arithmetic over %i words',
    async (V) => {
      const B = V > 10_000 ? 8 : 64;
      const logits = Float32Array.from(
        { length: B * V },
        (_, i) => 4 * (random(i) + random(i + 1e6) + random(i + 2e6) - 1.5),
      );
      const uniform = Float32Array.from({ length: B }, (_, b) => random(b + 3e6));
      const { tokens, logProbs } = await draw(B, V, logits, uniform, 0.8);
      let other = 0;
      for (let b = 0; b < B; b += 1) {
        const row = exact(logits.subarray(b * V, (b + 1) * V), uniform[b]!, 0.8);
        if (tokens[b] !== row.token) other += 1;
        expect(tokens[b]).toBeGreaterThanOrEqual(0);
        expect(tokens[b]).toBeLessThan(V);
        expect(logProbs[b]).toBeCloseTo(row.logProb(tokens[b]!), 4);
      }
      // Rounding may move a draw to the neighbouring word, rarely.
      expect(other).toBeLessThanOrEqual(V > 10_000 ? 1 : 0);
    },
  );

  it('never draws a word without probability, at either end of the unit interval', async () => {
    const [B, V] = [64, 300];
    const logits = new Float32Array(B * V).fill(-1e4);
    for (let b = 0; b < B; b += 1) logits[b * V + 7 + b] = 0;
    for (const u of [2 ** -24, 1 - 2 ** -24]) {
      const { tokens, logProbs } = await draw(B, V, logits, new Float32Array(B).fill(u), 1);
      expect([...tokens]).toEqual(Array.from({ length: B }, (_, b) => 7 + b));
      expect([...logProbs].every((value) => Math.abs(value) < 1e-6)).toBe(true);
    }
  });

  it('draws in proportion: frequencies of 20 words within five standard deviations', async () => {
    const [B, V] = [64, 20];
    const row = Float32Array.from({ length: V }, (_, v) => Math.log(v + 1));
    const logits = Float32Array.from({ length: B * V }, (_, i) => row[i % V]!);
    const counts = new Float64Array(V);
    const rounds = 200;
    for (let round = 0; round < rounds; round += 1) {
      const { tokens } = await draw(
        B,
        V,
        logits,
        Float32Array.from({ length: B }, (_, b) => random(5e6 + round * B + b)),
        1,
      );
      for (const token of tokens) counts[token]! += 1;
    }
    const n = rounds * B;
    for (let v = 0; v < V; v += 1) {
      const p = (v + 1) / 210;
      expect(Math.abs(counts[v]! - n * p)).toBeLessThan(5 * Math.sqrt(n * p * (1 - p)));
    }
  });
});

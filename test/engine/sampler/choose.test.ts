// Every draw that a decode graph can hold, over vocabularies from one word to a real model's, against float64: which words
// stay, which is drawn, and its three log-probabilities. Only logits / T is rounded to float32 as the graph does, since
// that decides the order of words which differ in their last bit.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Graph } from '../../../runner/engine/graph/graph.ts';
import { serialize } from '../../../runner/engine/onnx/serialize.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime, Tensor } from '../../../runner/engine/ort/runtime.ts';
import { Scope } from '../../../runner/engine/ort/scope.ts';
import { drawKey, drawStream } from '../../../runner/engine/random/draws.ts';
import { chooseTokens, narrowWidth } from '../../../runner/engine/sampler/choose.ts';
import type { DrawVariant } from '../../../runner/engine/sampler/choose.ts';

let runtime: Runtime;
beforeAll(() => void (runtime = createRuntime()));
afterAll(() => runtime[Symbol.dispose]());

interface Settings {
  readonly T?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
}

interface Case extends Settings {
  readonly B: number;
  readonly V: number;
  readonly logits: Float32Array;
  readonly uniform: Float32Array;
  readonly bias?: Float32Array;
}

const outputsOf = (B: number) => ({
  next_tokens: new Int32Array(B),
  log_probs: new Float32Array(B),
  sampling_log_probs: new Float32Array(B),
  log_probs_at_one: new Float32Array(B),
  beyond: new Float32Array(B),
});

async function choose(draw: DrawVariant['draw'], args: Case) {
  const { B, V, logits, uniform, bias, T = 1, topK = 0, topP = 1, minP = 0 } = args;
  const graph = new Graph();
  chooseTokens(graph, graph.input('logits', 'float32', [B, V]), { draw, biased: bias !== undefined });
  const scope = new Scope();
  const tensor = (...of: Parameters<Runtime['tensor']>) => scope.own(runtime.tensor(...of));
  const of = (tensors: Record<string, () => Tensor>, names: Iterable<string>) =>
    Object.fromEntries([...names].map((name) => [name, tensors[name]!()]));
  try {
    const session = scope.own(await runtime.createSession(serialize(graph)));
    const out = outputsOf(B);
    const inputs = {
      logits: () => tensor('float32', [B, V], logits),
      logit_bias: () => tensor('float32', [1, V], bias!),
      uniform: () => tensor('float32', [B, 1], uniform),
      inverse_temperature: () => tensor('float32', [], Float32Array.of(1 / T)),
      top_k: () => tensor('int32', [], Int32Array.of(topK === 0 ? V : topK)),
      top_p: () => tensor('float32', [], Float32Array.of(topP === 1 ? 2 : topP)),
      min_p: () => tensor('float32', [], Float32Array.of(minP)),
    };
    const outputs = {
      next_tokens: () => tensor('int32', [B], out.next_tokens),
      log_probs: () => tensor('float32', [B], out.log_probs),
      sampling_log_probs: () => tensor('float32', [B], out.sampling_log_probs),
      log_probs_at_one: () => tensor('float32', [B], out.log_probs_at_one),
      beyond: () => tensor('float32', [B], out.beyond),
    };
    await scope.own(session.bind(of(inputs, graph.inputs.keys()), of(outputs, graph.outputs.keys()))).run();
    return out;
  } finally {
    scope[Symbol.dispose]();
  }
}

/** log softmax at each word, in float64. */
function logSoftmax(z: readonly number[]): (word: number) => number {
  const top = z.reduce((a, b) => Math.max(a, b), -Infinity);
  const total = Math.log(z.reduce((sum, value) => sum + Math.exp(value - top), 0));
  return (word) => z[word]! - top - total;
}

/** Row b of a case: the words kept, in order of likelihood, the one drawn, and the log-probabilities of any word. */
function exact(args: Case, b: number, ordered: boolean) {
  const { V, bias, uniform, T = 1, topK = 0, topP = 1, minP = 0 } = args;
  const logits = [...args.logits.subarray(b * V, (b + 1) * V)];
  const inverse = Math.fround(1 / T);
  const scaled = logits.map((z, v) => Math.fround(Math.fround(z + (bias?.[v] ?? 0)) * inverse));
  const words = scaled.map((_, v) => v);
  if (ordered) words.sort((v, w) => scaled[w]! - scaled[v]! || v - w);
  const top = scaled.reduce((a, z) => Math.max(a, z), -Infinity);
  const mass = (v: number) => Math.exp(scaled[v]! - top);
  const likeliest = topK === 0 ? words : words.slice(0, topK);
  const left = likeliest.reduce((sum, v) => sum + mass(v), 0);
  let before = 0;
  const kept: number[] = [];
  for (const v of likeliest) {
    if (topP < 1 && before >= Math.fround(topP) * left) break;
    before += mass(v);
    if (mass(v) >= Math.fround(minP)) kept.push(v);
  }
  const total = kept.reduce((sum, v) => sum + mass(v), 0);
  let cumulative = 0;
  const token = kept.find((v) => (cumulative += mass(v)) >= uniform[b]! * total)!;
  return {
    kept,
    token,
    sampling: (v: number) => scaled[v]! - top - Math.log(total),
    atT: logSoftmax(logits.map((z) => z * inverse)),
    atOne: logSoftmax(logits),
  };
}

const random = drawStream(drawKey(13, 'test/choose', 0), 0, 0);

/** `spread` widens the logits: the larger, the fewer words carry the mass. */
function newCase(V: number, spread: number, settings: Settings, seed: number, biased = false): Case {
  const B = V > 10_000 ? 4 : 32;
  const at = (i: number) => random(seed * 1e7 + i);
  const logits = Float32Array.from(
    { length: B * V },
    (_, i) => spread * (at(3 * i) + at(3 * i + 1) + at(3 * i + 2) - 1.5),
  );
  const uniform = Float32Array.from({ length: B }, (_, b) => at(3 * B * V + b));
  const bias = Float32Array.from({ length: V }, (_, v) => (v % 3 === 0 ? 2 : v % 7 === 0 ? -100 : 0));
  return { B, V, logits, uniform, ...settings, ...(biased ? { bias } : {}) };
}

/** Compares all rows that the draw had the width for; returns how many those were. */
function compare(args: Case, out: Awaited<ReturnType<typeof choose>>, ordered: boolean, width: number) {
  let compared = 0;
  let other = 0;
  for (let b = 0; b < args.B; b += 1) {
    const row = exact(args, b, ordered);
    if (width < args.V && args.topK === undefined) expect(out.beyond[b]! > 0).toBe(row.kept.length >= width);
    if (row.kept.length > width) continue;
    compared += 1;
    const token = out.next_tokens[b]!;
    if (token !== row.token) other += 1;
    expect(row.kept).toContain(token);
    expect(out.sampling_log_probs[b]).toBeCloseTo(row.sampling(token), 4);
    expect(out.log_probs[b]).toBeCloseTo(row.atT(token), 4);
    expect(out.log_probs_at_one[b]).toBeCloseTo(row.atOne(token), 4);
  }
  // Rounding may move a draw to the neighbouring word, rarely.
  expect(other).toBeLessThanOrEqual(args.V > 10_000 ? 1 : 0);
  return compared;
}

const sizes = [1, 2, 3, 17, 300, 1000, 32_000, 151_936];

describe('truncated draws against float64', () => {
  const settings: Settings[] = [
    { topK: 1 },
    { T: 0.8, topK: 40 },
    { T: 0.7, topP: 0.95 },
    { minP: 0.05 },
    { T: 0.6, topK: 20, topP: 0.9, minP: 0.1 },
    { T: 1.3, topK: 200, topP: 0.5 },
    { topP: 1e-6 },
  ];
  it.each(sizes)('over %i words, sorting the likeliest', async (V) => {
    const width = narrowWidth(V);
    for (const [i, setting] of settings.entries()) {
      if ((setting.topK ?? 0) > V) continue;
      const args = newCase(V, V > 1000 ? 40 : 12, setting, i);
      expect(compare(args, await choose('narrow', args), true, width)).toBeGreaterThan(0);
    }
  });

  it.each([300, 32_000, 151_936])('over %i words, sorting all: flat distributions too', async (V) => {
    for (const [i, setting] of [{ topP: 0.9 }, { T: 1.2, topK: V - 20, topP: 0.99, minP: 0.01 }].entries()) {
      const args = newCase(V, 3, setting, 20 + i);
      expect(compare(args, await choose('wide', args), true, V)).toBe(args.B);
    }
  });

  it('narrow and wide agree to the bit wherever narrow suffices', async () => {
    for (const V of [1000, 32_000]) {
      const args = newCase(V, 30, { T: 0.9, topP: 0.95 }, 31);
      const [narrow, wide] = [await choose('narrow', args), await choose('wide', args)];
      const enough = [...narrow.beyond.keys()].filter((b) => narrow.beyond[b] === 0);
      expect(enough.length).toBeGreaterThan(0);
      for (const b of enough)
        for (const name of ['next_tokens', 'log_probs', 'sampling_log_probs', 'log_probs_at_one'] as const)
          expect(narrow[name][b]).toBe(wide[name][b]);
    }
  });

  it('of equally likely words keeps those with the lower ids', async () => {
    const [B, V] = [64, 1000];
    const logits = new Float32Array(B * V);
    const uniform = Float32Array.from({ length: B }, (_, b) => (b + 0.5) / B);
    const { next_tokens, sampling_log_probs } = await choose('narrow', { B, V, logits, uniform, topK: 8 });
    expect([...next_tokens]).toEqual(Array.from({ length: B }, (_, b) => Math.floor(b / 8)));
    sampling_log_probs.forEach((logProb) => expect(logProb).toBeCloseTo(-Math.log(8), 5));
  });

  it('never leaves the kept words, at either end of the unit interval', async () => {
    for (const u of [2 ** -24, 1 - 2 ** -24]) {
      const args = newCase(1000, 12, { topK: 5, topP: 0.8 }, 41);
      args.uniform.fill(u);
      const { next_tokens } = await choose('narrow', args);
      next_tokens.forEach((token, b) => {
        const { kept } = exact(args, b, true);
        expect(token).toBe(u < 0.5 ? kept[0] : kept.at(-1));
      });
    }
  });
});

describe('the three log-probabilities of draws from all words', () => {
  it.each(sizes)('over %i words, with and without a bias', async (V) => {
    for (const biased of [false, true]) {
      const plain = newCase(V, 4, {}, 50, biased);
      expect(compare(plain, await choose('plain', plain), false, V)).toBe(plain.B);
      const tempered = newCase(V, 4, { T: 0.7 }, 51, biased);
      expect(compare(tempered, await choose('tempered', tempered), false, V)).toBe(tempered.B);
    }
  });
});

it('a bias comes before the truncation, and the model’s own log-probabilities know nothing of it', async () => {
  for (const V of [17, 1000, 151_936]) {
    const args = newCase(V, 30, { T: 0.8, topK: Math.min(12, V), topP: 0.9 }, 60, true);
    expect(compare(args, await choose('narrow', args), true, narrowWidth(V))).toBe(args.B);
  }
});

it('greedy takes the likeliest word under the bias, as the only one it could', async () => {
  const args = newCase(1000, 4, {}, 70, true);
  const out = await choose('greedy', args);
  for (let b = 0; b < args.B; b += 1) {
    const { atOne } = exact(args, b, false);
    const row = [...args.logits.subarray(b * 1000, (b + 1) * 1000)].map((z, v) =>
      Math.fround(z + args.bias![v]!),
    );
    expect(out.next_tokens[b]).toBe(row.indexOf(Math.max(...row)));
    expect(out.sampling_log_probs[b]).toBe(0);
    expect(out.log_probs[b]).toBeCloseTo(atOne(out.next_tokens[b]!), 4);
    expect(out.log_probs_at_one[b]).toBe(out.log_probs[b]);
  }
});

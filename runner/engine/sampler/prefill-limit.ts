// How many tokens of a prompt may be computed in one run. WebGPU's GroupQueryAttention takes another kernel from 32 tokens
// on, which gives wrong values on SwiftShader (errors of 0.3; caches are right). Whether a device has that fault is found
// out on the device itself: 32 tokens at once against the same tokens in two halves.
import { Graph } from '../graph/graph.ts';
import type { DecoderConfig } from '../models/config.ts';
import { serialize } from '../onnx/serialize.ts';
import type { Runtime, Session } from '../ort/runtime.ts';
import { Scope } from '../ort/scope.ts';
import { cachedAttention } from './cached-attention.ts';

type Shape = Pick<DecoderConfig, 'heads' | 'kvHeads' | 'headSize'>;

/** The first count that takes the other kernel, and the most that does not. */
const suspect = 32;
const safe = 24;
const tolerance = 1e-3;

const limits = new WeakMap<Runtime, Map<string, Promise<number>>>();

/** Infinity where any number is computed right. Found out once for a runtime and shape of heads. */
export function prefillLimit(runtime: Runtime, { heads, kvHeads, headSize }: Shape): Promise<number> {
  if (runtime.provider === 'cpu') return Promise.resolve(Infinity);
  const known = limits.get(runtime) ?? new Map<string, Promise<number>>();
  limits.set(runtime, known);
  const key = `${heads} ${kvHeads} ${headSize}`;
  const limit = known.get(key) ?? probe(runtime, { heads, kvHeads, headSize });
  known.set(key, limit);
  return limit;
}

async function probe(runtime: Runtime, shape: Shape): Promise<number> {
  const whole = await attend(runtime, shape, [suspect]);
  const halves = await attend(runtime, shape, [suspect / 2, suspect / 2]);
  return whole.every((value, i) => Math.abs(value - halves[i]!) <= tolerance) ? Infinity : safe;
}

/** What `suspect` tokens see, computed in runs of so many tokens: [suspect * H * hd]. */
async function attend(runtime: Runtime, shape: Shape, runs: readonly number[]): Promise<Float32Array> {
  const { kvHeads, headSize } = shape;
  const scope = new Scope();
  try {
    const cache = [1, kvHeads, suspect, headSize];
    const [key, value] = [runtime.allocate('float32', cache), runtime.allocate('float32', cache)].map((x) =>
      scope.own(x),
    ) as [ReturnType<Runtime['allocate']>, ReturnType<Runtime['allocate']>];
    const seen: number[] = [];
    for (const tokens of runs) {
      const begin = seen.length / (shape.heads * headSize);
      const session = scope.own(await attention(runtime, shape, tokens));
      const input = (name: string, heads: number, phase: number) => {
        const data = Float32Array.from({ length: tokens * heads * headSize }, (_, i) =>
          Math.sin((begin * heads * headSize + i) * 1.37 + phase),
        );
        return [name, scope.own(runtime.tensor('float32', [1, tokens, heads * headSize], data))] as const;
      };
      const output = scope.own(runtime.tensor('float32', [1, tokens, shape.heads * headSize]));
      const scalar = (dims: number[], of: number) =>
        scope.own(runtime.tensor('int32', dims, Int32Array.of(of)));
      const inputs = {
        ...Object.fromEntries([
          input('query', shape.heads, 0),
          input('key', kvHeads, 1),
          input('value', kvHeads, 2),
        ]),
        key_cache: key,
        value_cache: value,
        last: scalar([1], begin + tokens - 1),
        longest: scalar([], begin + tokens),
      };
      const outputs = { output, key_cache_out: key, value_cache_out: value };
      await scope.own(session.bind(inputs, outputs)).run();
      seen.push(...(output.data as Float32Array));
    }
    return Float32Array.from(seen);
  } finally {
    scope[Symbol.dispose]();
  }
}

function attention(runtime: Runtime, { heads, kvHeads, headSize }: Shape, tokens: number): Promise<Session> {
  const graph = new Graph();
  const input = (name: string, of: number) => graph.input(name, 'float32', [1, tokens, of * headSize]);
  const cache = (name: string) => graph.input(name, 'float32', [1, kvHeads, suspect, headSize]);
  const attended = cachedAttention(
    {
      query: input('query', heads),
      key: input('key', kvHeads),
      value: input('value', kvHeads),
      keyCache: cache('key_cache'),
      valueCache: cache('value_cache'),
      lastPositions: graph.input('last', 'int32', [1]),
      longest: graph.input('longest', 'int32', []),
    },
    { heads, kvHeads },
  );
  graph.output('output', attended.output);
  graph.output('key_cache_out', attended.keyCache);
  graph.output('value_cache_out', attended.valueCache);
  const label = `attention of ${tokens} tokens`;
  return runtime.createSession(serialize(graph, label), { label, sharedBuffers: true });
}

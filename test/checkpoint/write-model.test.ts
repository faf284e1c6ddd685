// Models out and in again: every family's tensors bit for bit in float32, rounded exactly in 16 bits, in one file and in
// shards. Files are read back by a reader that shares nothing with ours, and run by the float64 reference.
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { narrowBf16, narrowF16 } from '../../runner/checkpoint/safetensors-halves.ts';
import { readModelWeights } from '../../runner/checkpoint/safetensors.ts';
import { writeModel, writeModelWeights } from '../../runner/checkpoint/write-model.ts';
import type { StoredForm } from '../../runner/checkpoint/write-model.ts';
import { hfModelConfig } from '../../runner/engine/models/config.ts';
import { namedViews, packWeights, parameterLayout } from '../../runner/engine/models/parameters.ts';
import { livelyWeights } from '../engine/learner/support.ts';
import { Float64Decoder } from '../engine/models/float64-decoder.ts';
import type { HfConfig } from '../engine/models/float64-decoder.ts';
import { configOf, tinyFamilies } from '../engine/models/tiny-families.ts';
import { independentModel, independentRead, valueOf } from './independent-read.ts';
import type { Half } from './independent-read.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';

let root: TempDir;
beforeAll(async () => void (root = await tempDir('write-model')));
afterAll(() => root.remove());

let count = 0;
async function newDir(): Promise<string> {
  const dir = join(root.path, `model-${++count}`);
  await mkdir(dir);
  return dir;
}

/** What training has in memory, of a file that repeats the head where it is tied. */
function arenaWeights(hf: HfConfig) {
  const config = configOf(hf);
  const layout = parameterLayout(config);
  const given = new Map(livelyWeights(config, 5));
  if (config.tieWordEmbeddings) given.set('lm_head.weight', given.get('model.embed_tokens.weight')!);
  return { config, weights: namedViews(layout, packWeights(config, layout, given)) };
}

const forms: readonly StoredForm[] = [
  {},
  { shardBytes: 4000 },
  { dtype: 'BF16' },
  { dtype: 'BF16', shardBytes: 3000 },
  { dtype: 'F16', shardBytes: 1 },
];

describe.each(tinyFamilies)('%s', (_, hf) => {
  const { config, weights } = arenaWeights(hf);

  test.each(forms)('written as %o: the same tensors, once each, and the same logits', async (form) => {
    const dir = await newDir();
    const modelFiles = new Map([['config.json', JSON.stringify(hf)]] as const);
    const listed = await writeModel(dir, { weights, modelFiles }, form);
    expect(listed.map(({ name }) => name).sort()).toEqual((await readdir(dir)).sort());
    const dtype = form.dtype ?? 'F32';
    const { tensors, index, files } = await independentModel(dir);
    expect([...tensors.keys()].sort()).toEqual([...weights.keys()].sort());
    expect(tensors.has('lm_head.weight')).toBe(!hf.tie_word_embeddings);
    expect(files.length > 1).toBe(form.shardBytes !== undefined);
    expect(index !== undefined).toBe(files.length > 1);
    if (index) {
      expect(Object.keys(index.weight_map).sort()).toEqual([...tensors.keys()].sort());
      const total = [...tensors.values()].reduce((sum, { data }) => sum + data.length, 0);
      expect(index.metadata.total_size).toBe(total * (dtype === 'F32' ? 4 : 2));
    }
    const read = await readModelWeights(dir);
    const expected = new Map(
      [...weights].map(([name, { data }]) => [
        name,
        { data: dtype === 'F32' ? Float64Array.from(data) : rounded(data, dtype) },
      ]),
    );
    for (const [name, { shape }] of weights) {
      const stored = tensors.get(name)!;
      expect(stored).toMatchObject({ dtype, shape });
      expect(stored.data, name).toEqual(expected.get(name)!.data);
      expect(read.get(name)!.data, name).toEqual(Float32Array.from(stored.data));
    }
    const written = JSON.parse(await readFile(join(dir, 'config.json'), 'utf8')) as HfConfig;
    expect(written).toEqual({
      ...hf,
      torch_dtype: { F32: 'float32', BF16: 'bfloat16', F16: 'float16' }[dtype],
    });
    expect(configOf(written)).toEqual(config);
    const ids = [3, 1, 4, 1, 5];
    const logits = new Float64Decoder(written, tensors).logits(ids);
    expect(logits).toEqual(new Float64Decoder(hf, expected).logits(ids));
  });

  test('a configuration that is written reads back as the same model', () => {
    expect(configOf(hfModelConfig(config, {}) as unknown as HfConfig)).toEqual(config);
  });
});

/** All finite values of 16 bits with infinity, ascending from 0, with their bits. */
function ladder(dtype: Half): { values: number[]; bits: number[] } {
  const bits = Array.from({ length: 0x8000 }, (_, i) => i).filter((i) => !Number.isNaN(valueOf(i, dtype)));
  return { values: bits.map((i) => valueOf(i, dtype)), bits };
}

/** Nearest by search over all values there are; of two equally near that with an even last bit. */
function nearest(value: number, { values, bits }: ReturnType<typeof ladder>): number {
  const magnitude = Math.abs(value);
  let [low, high] = [0, values.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= magnitude) low = middle;
    else high = middle;
  }
  if (values[high]! <= magnitude) low = high;
  // Infinity stands where the next finite value would.
  const next = values[high] === Infinity ? 2 * values[high - 1]! - values[high - 2]! : values[high]!;
  const [down, up] = [magnitude - values[low]!, next - magnitude];
  const index = low === high || down < up || (down === up && bits[low]! % 2 === 0) ? low : high;
  return bits[index]! + (value < 0 || Object.is(value, -0) ? 0x8000 : 0);
}

const ladders = { BF16: ladder('BF16'), F16: ladder('F16') };

function rounded(data: Float32Array, dtype: Half): Float64Array {
  return Float64Array.from(data, (value) => valueOf(nearest(value, ladders[dtype]), dtype));
}

describe.each([['BF16', narrowBf16] as const, ['F16', narrowF16] as const])('%s', (dtype, narrow) => {
  const { values, bits } = ladders[dtype];

  test('every value that there is stays itself', () => {
    const halves = new Uint16Array(values.length);
    narrow(Float32Array.from(values), halves);
    expect([...halves]).toEqual(bits);
    narrow(
      Float32Array.from(values, (x) => -x),
      halves,
    );
    expect([...halves]).toEqual(bits.map((i) => i + 0x8000));
  });

  test('halfway values go to the even neighbour, the float32 values beside them to the nearer', () => {
    const halfway = values.slice(0, -2).map((x, i) => (x + values[i + 1]!) / 2);
    const word = new Uint32Array(1);
    const float = new Float32Array(word.buffer);
    const beside = (x: number, by: number): number => {
      float[0] = x;
      word[0]! += by;
      return float[0];
    };
    const given = Float32Array.from(
      halfway.flatMap((x) => [x, -x, beside(x, 1), ...(x > 0 ? [beside(x, -1)] : [])]),
    );
    const halves = new Uint16Array(given.length);
    narrow(given, halves);
    const wrong = [...given].filter((x, i) => halves[i] !== nearest(x, ladders[dtype]));
    expect(wrong).toEqual([]);
  });

  test('what is too large becomes infinity, what is no number stays none', () => {
    const halves = new Uint16Array(5);
    narrow(Float32Array.of(Infinity, -Infinity, 3.4028234663852886e38, -3.4028234663852886e38, NaN), halves);
    expect([...halves].map((half) => valueOf(half, dtype))).toEqual([
      Infinity,
      -Infinity,
      Infinity,
      -Infinity,
      NaN,
    ]);
  });
});

test('a finite weight that F16 cannot hold is refused, named, and not written', async () => {
  const dir = await newDir();
  const weights = (value: number) => new Map([['w', { shape: [2], data: Float32Array.of(1, value) }]]);
  await writeModelWeights(dir, weights(65_519), { dtype: 'F16' });
  expect((await independentRead(join(dir, 'model.safetensors'))).get('w')!.data[1]).toBe(65_504);
  await expect(writeModelWeights(dir, weights(-65_520), { dtype: 'F16' })).rejects.toThrow(
    /model\.safetensors: tensor "w": element 1 is -65520, F16 ends at 65504: write BF16/,
  );
});

import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readModelWeights, readSafetensors, writeSafetensors } from '../../runner/checkpoint/safetensors.ts';
import { noTestData, testData, testDataDir } from '../support/test-data.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'millrace-safetensors-'));
});
afterAll(() => rm(dir, { recursive: true }));

/** A file made by hand from the format's description, so that reader and writer are not tested only against each other. */
async function fileOf(name: string, header: unknown, data: Uint8Array): Promise<string> {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  await writeFile(join(dir, name), Buffer.concat([length, json, data]));
  return join(dir, name);
}

const f32 = (...values: number[]): Uint8Array => new Uint8Array(new Float32Array(values).buffer);
const u16 = (...values: number[]): Uint8Array => new Uint8Array(new Uint16Array(values).buffer);

describe('read', () => {
  test('F32, BF16 and F16 become float32 exactly', async () => {
    const file = await fileOf(
      'all.safetensors',
      {
        __metadata__: { format: 'pt' },
        a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
        b: { dtype: 'BF16', shape: [3], data_offsets: [8, 14] },
        c: { dtype: 'F16', shape: [2, 4], data_offsets: [14, 30] },
      },
      Buffer.concat([
        f32(1.5, -2e-9),
        u16(0x3f80, 0xc049, 0x7f80),
        u16(0x3c00, 0xc000, 0x0001, 0x03ff, 0x7bff, 0x7c00, 0xfc00, 0x3555),
      ]),
    );
    const tensors = await readSafetensors(file);
    expect([...tensors.keys()]).toEqual(['a', 'b', 'c']);
    expect([...tensors.get('a')!.data]).toEqual([1.5, Math.fround(-2e-9)]);
    expect([...tensors.get('b')!.data]).toEqual([1, -3.140625, Infinity]);
    // binary16: smallest subnormal 2^-24, largest subnormal 1023 * 2^-24, largest 65504, one third 0.333251953125
    expect([...tensors.get('c')!.data]).toEqual([
      1,
      -2,
      2 ** -24,
      1023 * 2 ** -24,
      65504,
      Infinity,
      -Infinity,
      0.333251953125,
    ]);
    expect(tensors.get('c')!.shape).toEqual([2, 4]);
  });

  test('a scalar and an empty tensor', async () => {
    const file = await fileOf(
      'small.safetensors',
      {
        s: { dtype: 'F32', shape: [], data_offsets: [0, 4] },
        e: { dtype: 'F32', shape: [0, 3], data_offsets: [4, 4] },
      },
      f32(7),
    );
    const tensors = await readSafetensors(file);
    expect([...tensors.get('s')!.data]).toEqual([7]);
    expect(tensors.get('e')!.data.length).toBe(0);
  });

  const entry = (begin: number, end: number, shape = [(end - begin) / 4]): unknown => ({
    dtype: 'F32',
    shape,
    data_offsets: [begin, end],
  });
  test.each([
    [
      'a dtype that is not supported',
      { w: { dtype: 'I64', shape: [1], data_offsets: [0, 8] } },
      8,
      /"w": dtype I64 is not supported/,
    ],
    [
      'a shape that does not fit its offsets',
      { w: entry(0, 8, [3]) },
      8,
      /"w": offsets 0\.\.8 hold 8 bytes, F32 \[3\] needs 12/,
    ],
    [
      'overlapping tensors',
      { v: entry(0, 8), w: entry(4, 12) },
      12,
      /"w": begins at byte \d+, expected \d+ \(overlap\)/,
    ],
    ['a hole', { v: entry(0, 4), w: entry(8, 12) }, 12, /\(hole\)/],
    [
      'a missing tail',
      { v: entry(0, 4), w: entry(4, 400) },
      100,
      /truncated: tensor "w" lies at bytes \d+\.\.\d+, the file ends at \d+/,
    ],
    ['bytes that belong to nobody', { v: entry(0, 4) }, 8, /4 bytes after the last tensor/],
    [
      'negative offsets',
      { v: { dtype: 'F32', shape: [1], data_offsets: [-4, 0] } },
      0,
      /"v": malformed header entry/,
    ],
    ['a header that is not JSON', '{"v"', 0, /not JSON/],
    ['a header that is not an object', '[1]', 0, /not a JSON object/],
  ])('%s is refused, named', async (_, header, bytes, message) => {
    const file = await fileOf('bad.safetensors', header, new Uint8Array(bytes));
    await expect(readSafetensors(file)).rejects.toThrow(message);
    await expect(readSafetensors(file)).rejects.toThrow(file);
  });

  test('truncated before and inside the header, and an absurd header length', async () => {
    const file = join(dir, 'short.safetensors');
    await writeFile(file, new Uint8Array(3));
    await expect(readSafetensors(file)).rejects.toThrow(/truncated: 3 bytes/);
    await writeFile(file, new Uint8Array([200, 0, 0, 0, 0, 0, 0, 0, 123]));
    await expect(readSafetensors(file)).rejects.toThrow(
      /truncated: the header needs 200 bytes, the file has 1/,
    );
    await writeFile(file, new Uint8Array(16).fill(255));
    await expect(readSafetensors(file)).rejects.toThrow(/header length 18446744073709551615 exceeds/);
  });

  test('a missing file and an empty directory are named', async () => {
    await expect(readSafetensors(join(dir, 'absent.safetensors'))).rejects.toThrow(
      /absent\.safetensors: cannot open the model file/,
    );
    await expect(readModelWeights(join(dir, 'nowhere'))).rejects.toThrow(
      /holds neither model\.safetensors nor/,
    );
  });

  test.skipIf(testDataDir === undefined)(`a published BF16 model (skipped if ${noTestData})`, async () => {
    const tensors = await readModelWeights(testData('digit-completion'));
    expect(tensors.get('model.embed_tokens.weight')!.shape).toEqual([16, 128]);
    const count = [...tensors.values()].reduce((sum, { data }) => sum + data.length, 0);
    expect(count).toBe(795_776);
  });
});

describe('write', () => {
  test('what is written reads back, and size and hash are those of the file', async () => {
    const file = join(dir, 'model.safetensors');
    const arena = new Float32Array(2_500_000).map((_, i) => Math.sin(i));
    const written = await writeSafetensors(
      file,
      new Map([
        ['b', { shape: [3, 500_000], data: arena.subarray(7, 1_500_007) }],
        ['a', { shape: [], data: arena.subarray(0, 1) }],
      ]),
    );
    const bytes = await readFile(file);
    expect(written).toEqual({
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    expect(Number(bytes.readBigUInt64LE(0)) % 8).toBe(0);
    const tensors = await readSafetensors(file);
    expect([...tensors.keys()]).toEqual(['b', 'a']);
    expect(Buffer.from(tensors.get('b')!.data.buffer).equals(Buffer.from(arena.buffer, 28, 6_000_000))).toBe(
      true,
    );
  });

  test('a shape that does not match its data is refused', async () => {
    const wrong = new Map([['w', { shape: [2, 2], data: new Float32Array(3) }]]);
    await expect(writeSafetensors(join(dir, 'w.safetensors'), wrong)).rejects.toThrow(
      /"w": shape \[2, 2\] does not hold 3 elements/,
    );
  });
});

describe('shards', () => {
  test('an index joins its shards and names what a shard lacks', async () => {
    const shardDir = await mkdtemp(join(dir, 'shards-'));
    const one = { shape: [1], data: new Float32Array([1]) };
    await writeSafetensors(join(shardDir, 'model-1.safetensors'), new Map([['a', one]]));
    await writeSafetensors(
      join(shardDir, 'model-2.safetensors'),
      new Map([
        ['b', one],
        ['c', one],
      ]),
    );
    const indexFile = join(shardDir, 'model.safetensors.index.json');
    await writeFile(
      indexFile,
      JSON.stringify({
        weight_map: { a: 'model-1.safetensors', b: 'model-2.safetensors', c: 'model-2.safetensors' },
      }),
    );
    expect([...(await readModelWeights(shardDir)).keys()]).toEqual(['a', 'b', 'c']);
    await writeFile(indexFile, JSON.stringify({ weight_map: { a: 'model-2.safetensors' } }));
    await expect(readModelWeights(shardDir)).rejects.toThrow(
      /names tensor "a" in model-2\.safetensors, which does not hold it/,
    );
    await writeFile(indexFile, JSON.stringify({ weight_map: { a: '../model-2.safetensors' } }));
    await expect(readModelWeights(shardDir)).rejects.toThrow(/not a plain file name/);
    await writeFile(indexFile, '{');
    await expect(readModelWeights(shardDir)).rejects.toThrow(/index\.json: not JSON/);
  });

  test('a tensor that its shard holds and the index does not name there is no tensor to leave out', async () => {
    const shardDir = await mkdtemp(join(dir, 'shards-'));
    const one = { shape: [1], data: new Float32Array([1]) };
    const both = new Map([
      ['a', one],
      ['b', one],
    ]);
    for (const name of ['one.safetensors', 'two.safetensors'])
      await writeSafetensors(join(shardDir, name), both);
    const indexed = async (weight_map: Record<string, string>) => {
      await writeFile(join(shardDir, 'model.safetensors.index.json'), JSON.stringify({ weight_map }));
      return readModelWeights(shardDir);
    };
    await expect(indexed({ a: 'one.safetensors' })).rejects.toThrow(
      /one\.safetensors: holds tensor "b", which the index does not name/,
    );
    await expect(indexed({ a: 'one.safetensors', b: 'two.safetensors' })).rejects.toThrow(
      /one\.safetensors: holds tensor "b", which the index says to be in two\.safetensors/,
    );
  });
});

// Checkpoints on disk: what is written is what is read, bit for bit; whatever is damaged is named.
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../runner/checkpoint/read.ts';
import { readModelFiles } from '../../runner/checkpoint/model-files.ts';
import type { SnapshotContents, SnapshotHeader } from '../../runner/checkpoint/snapshot.ts';
import { writeSnapshot } from '../../runner/checkpoint/snapshot.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';

let root: TempDir;
beforeAll(async () => void (root = await tempDir('snapshot')));
afterAll(() => root.remove());

const header: SnapshotHeader = {
  job: 'job_1',
  attempt: 2,
  stage: 'math',
  stage_index: 1,
  step: 50,
  kind: 'step',
  conditions: {
    provider: 'cpu',
    onnxruntime: '1.30.0',
    threads: 2,
    cpu: 'avx512',
    node: '22.18.0',
    memory_bytes: 1 << 28,
    device: 'cpu',
    precision: 'float32' as const,
    cache_tokens: 1,
  },
};

// Values that only survive bit for bit: a subnormal, negative zero, the largest float.
const values = new Float32Array([1e-42, -0, 3.4028234663852886e38, 0.1, -1.5, 7]);
const contents: SnapshotContents = {
  weights: new Map([['model.embed_tokens.weight', { shape: [2, 3], data: values }]]),
  modelFiles: new Map([
    ['config.json', '{"model_type":"llama","torch_dtype":"bfloat16"}'],
    ['tokenizer.json', '{"version":"1.0"}'],
  ]),
  moments: new Map([
    ['m', { shape: [6], data: values.map((value) => value / 3) }],
    ['v', { shape: [6], data: values.map((value) => value * value) }],
  ]),
  state: { step: 50, cursor: { epoch: 1 }, note: 'für alle' },
};

let count = 0;
const newDir = (): string => join(root.path, `snapshot-${++count}`);

async function written(): Promise<string> {
  const dir = newDir();
  await writeSnapshot(dir, header, contents);
  return dir;
}

const bits = (data: Float32Array): number[] => [
  ...new Uint32Array(data.buffer, data.byteOffset, data.length),
];

describe('a snapshot', () => {
  it('is read back bit for bit, with its state', async () => {
    const checkpoint = await openCheckpoint(await written());
    expect(checkpoint.manifest).toMatchObject({ format: 'millrace-checkpoint-1', ...header });
    const weights = await checkpoint.weights();
    expect(weights.get('model.embed_tokens.weight')!.shape).toEqual([2, 3]);
    expect(bits(weights.get('model.embed_tokens.weight')!.data)).toEqual(bits(values));
    const moments = await checkpoint.moments();
    expect(bits(moments!.get('v')!.data)).toEqual(bits(contents.moments!.get('v')!.data));
    expect(await checkpoint.state()).toEqual(contents.state);
  });

  it('lists every file but the manifest, and carries the model’s files with the type of its weights', async () => {
    const dir = await written();
    const { manifest } = await openCheckpoint(dir);
    expect(manifest.files.map(({ name }) => name).sort()).toEqual(
      [
        'config.json',
        'model.safetensors',
        'tokenizer.json',
        'trainer/moments.safetensors',
        'trainer/state.json',
      ].sort(),
    );
    const files = await readModelFiles(dir);
    expect(JSON.parse(files.get('config.json')!)).toEqual({ model_type: 'llama', torch_dtype: 'float32' });
    expect(files.get('tokenizer.json')).toBe('{"version":"1.0"}');
    expect(files.has('chat_template.jinja')).toBe(false);
  });

  it('needs no moments', async () => {
    const dir = newDir();
    const { moments: _, ...rest } = contents;
    await writeSnapshot(dir, header, rest);
    expect(await (await openCheckpoint(dir)).moments()).toBeUndefined();
  });

  it('written twice is the same to the byte', async () => {
    const [one, two] = [await written(), await written()];
    expect(await readFile(join(one, 'manifest.json'), 'utf8')).toBe(
      await readFile(join(two, 'manifest.json'), 'utf8'),
    );
  });

  it('does not overwrite a directory', async () => {
    await expect(writeSnapshot(await written(), header, contents)).rejects.toMatchObject({ code: 'EEXIST' });
  });
});

describe('a damaged checkpoint is refused, the file named', () => {
  it.each([
    [
      'a changed byte',
      (dir: string) => writeFile(join(dir, 'tokenizer.json'), '{"version":"1.1"}'),
      /tokenizer\.json: its SHA-256 is/,
    ],
    [
      'a short file',
      (dir: string) => truncate(join(dir, 'model.safetensors'), 40),
      /model\.safetensors: has 40 bytes/,
    ],
    [
      'a missing file',
      (dir: string) => rm(join(dir, 'trainer/state.json')),
      /state\.json: is listed in manifest\.json but is not there/,
    ],
    ['no manifest', (dir: string) => rm(join(dir, 'manifest.json')), /holds no readable manifest\.json/],
    [
      'half a manifest',
      (dir: string) => truncate(join(dir, 'manifest.json'), 60),
      /manifest\.json: not JSON/,
    ],
    [
      'a foreign manifest',
      (dir: string) => writeFile(join(dir, 'manifest.json'), '{"format":"other"}'),
      /malformed manifest/,
    ],
    [
      'a name that leaves the directory',
      async (dir: string) => {
        const text = await readFile(join(dir, 'manifest.json'), 'utf8');
        await writeFile(join(dir, 'manifest.json'), text.replace('trainer/state.json', '../../etc/passwd'));
      },
      /malformed manifest/,
    ],
  ])('%s', async (_, damage, message) => {
    const dir = await written();
    await damage(dir);
    await expect(openCheckpoint(dir)).rejects.toMatchObject({
      name: 'CheckpointCorrupt',
      message: expect.stringMatching(message),
    });
  });

  it('a directory that is not there', async () => {
    await expect(openCheckpoint(newDir())).rejects.toThrow(/there is no such checkpoint directory/);
  });
});

// A file system of 8 MiB: only root may mount one.
const mayMount = process.platform === 'linux' && process.getuid?.() === 0;

describe.skipIf(!mayMount)('a full disk (skipped where no file system can be mounted: needs root)', () => {
  let disk: string;
  beforeAll(async () => {
    disk = join(root.path, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk]);
  });
  afterAll(() => void execFileSync('umount', [disk]));

  it('is refused before anything is written, with the figures', async () => {
    const weights = new Map([['w', { shape: [3 << 20], data: new Float32Array(3 << 20) }]]);
    const failed = writeSnapshot(join(disk, 'snapshot'), header, { ...contents, weights });
    await expect(failed).rejects.toMatchObject({
      name: 'ScratchFull',
      path: disk,
      neededBytes: expect.any(Number),
    });
    await expect(failed).rejects.toThrow(/needs 1677\d{4} bytes, the file system has \d+ free/);
    expect(await readdir(disk)).toEqual([]);
  });
});

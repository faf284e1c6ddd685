// Transfers between store and scratch: whole or not at all, hashes checked, asked again without sending twice.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckpointCommit } from '../../api/contract/checkpoint.ts';
import { openCheckpoint } from '../../runner/checkpoint/read.ts';
import { writeSnapshot } from '../../runner/checkpoint/snapshot.ts';
import type { TransferContext } from '../../runner/uploader/context.ts';
import { failureOf } from '../../runner/uploader/failure.ts';
import { retrying } from '../../runner/uploader/retry.ts';
import { performTransfer } from '../../runner/uploader/transfer.ts';
import { StoreError } from '../../store/error.ts';
import { openStore } from '../../store/open.ts';
import type { ObjectStore } from '../../store/store.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';

let dir: TempDir;
let context: TransferContext;
/** Keys in the order in which they were put. */
let puts: string[];

beforeEach(async () => {
  dir = await tempDir('transfers');
  const store = openStore(pathToFileURL(join(dir.path, 'store')).href, {});
  puts = [];
  context = { store: watched(store), openOther: () => store, patience: { limitMs: 200, firstPauseMs: 5 } };
});
afterEach(() => dir.remove());

const watched = (store: ObjectStore): ObjectStore => ({
  ...store,
  put: (key, body, options) => {
    puts.push(key);
    return store.put(key, body, options);
  },
});

const inStore = (key: string): string => join(dir.path, 'store', key);
const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function putObject(key: string, text: string): Promise<void> {
  await mkdir(dirname(inStore(key)), { recursive: true });
  await writeFile(inStore(key), text);
}

const prefix = 'jobs/job_1/a1/0-sft/step-000002/';

async function snapshot(): Promise<string> {
  const path = join(dir.path, 'snapshot');
  const data = new Float32Array([1, 2, 3, 4]);
  await writeSnapshot(
    path,
    {
      job: 'job_1',
      attempt: 1,
      stage: 'sft',
      stage_index: 0,
      step: 2,
      kind: 'step',
      conditions: {
        provider: 'cpu',
        onnxruntime: '0',
        threads: 1,
        cpu: 'none',
        node: '0',
        memory_bytes: 0,
        device: 'cpu',
        precision: 'float32',
        cache_tokens: 1,
      },
    },
    {
      weights: new Map([['w', { shape: [4], data }]]),
      modelFiles: new Map([['config.json', '{}']]),
      state: { step: 2 },
    },
  );
  return path;
}

const storeSnapshot = async (path: string): Promise<CheckpointCommit> =>
  (await performTransfer(context, { kind: 'store_snapshot', dir: path, prefix }))!;

const failing = async (transfer: Promise<unknown>): Promise<{ code: string; message: string }> =>
  failureOf(
    await transfer.then(
      () => new Error('it went well'),
      (error: unknown) => error,
    ),
  );

describe('a snapshot to the store', () => {
  it('sends the manifest last and says what to commit', async () => {
    const path = await snapshot();
    const commit = await storeSnapshot(path);
    expect(puts.at(-1)).toBe(`${prefix}manifest.json`);
    expect(commit).toMatchObject({ stage: 'sft', stage_index: 0, step: 2, kind: 'step', prefix });
    expect(commit.manifest_sha256).toBe(sha256(await readFile(inStore(`${prefix}manifest.json`))));
    expect(commit.size).toBe(commit.files.reduce((sum, { size }) => sum + size, 0));
    expect((await openCheckpoint(inStore(prefix))).manifest.step).toBe(2);
  });

  it('asked again sends only what has not arrived, whatever was lost meanwhile', async () => {
    const path = await snapshot();
    const once = await storeSnapshot(path);
    puts = [];
    expect(await storeSnapshot(path)).toEqual(once);
    expect(puts).toEqual([`${prefix}manifest.json`]);
    await rm(inStore(`${prefix}config.json`));
    await truncate(inStore(`${prefix}model.safetensors`), 5);
    puts = [];
    await storeSnapshot(path);
    expect(puts).toEqual([`${prefix}model.safetensors`, `${prefix}config.json`, `${prefix}manifest.json`]);
    await openCheckpoint(inStore(prefix));
  });

  it('whose bytes have changed in scratch is refused, without a manifest in the store', async () => {
    const path = await snapshot();
    await writeFile(join(path, 'config.json'), '[]');
    expect(await failing(storeSnapshot(path))).toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining('config.json'),
    });
    expect(await readdir(inStore(prefix))).not.toContain('manifest.json');
  });
});

describe('a checkpoint from the store', () => {
  const fetch = (checkpoint: CheckpointCommit, to = join(dir.path, 'resume')) =>
    performTransfer(context, {
      kind: 'fetch_checkpoint',
      checkpoint: { ...checkpoint, id: 'ckpt_00000000000000000001' },
      dir: to,
    });

  it('arrives whole, and is completed where a former try has ended in the middle', async () => {
    const commit = await storeSnapshot(await snapshot());
    await fetch(commit);
    const to = join(dir.path, 'resume');
    expect(await (await openCheckpoint(to)).state()).toEqual({ step: 2 });
    await rm(join(to, 'manifest.json'));
    await appendFile(join(to, 'config.json'), 'x');
    await fetch(commit);
    await openCheckpoint(to);
    expect((await readdir(to)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it.each([
    ['a changed file', 'config.json', 'corrupt'],
    ['a changed manifest', 'manifest.json', 'corrupt'],
  ])('with %s is refused by name', async (_, name, code) => {
    const commit = await storeSnapshot(await snapshot());
    await appendFile(inStore(`${prefix}${name}`), ' ');
    expect(await failing(fetch(commit))).toMatchObject({ code, message: expect.stringContaining(name) });
    expect(await readdir(join(dir.path, 'resume'))).not.toContain('manifest.json');
  });

  it('with a missing file is missing', async () => {
    const commit = await storeSnapshot(await snapshot());
    await rm(inStore(`${prefix}trainer/state.json`));
    expect(await failing(fetch(commit))).toMatchObject({
      code: 'missing',
      message: expect.stringContaining('state.json'),
    });
  });
});

describe('a dataset', () => {
  const rows = '{"prompt":"p","answer":"1"}\n';
  const key = 'datasets/ds_1/rows.jsonl';
  const fetch = (changes: { size?: number; sha256?: string } = {}) =>
    performTransfer(context, {
      kind: 'fetch_file',
      key,
      size: rows.length,
      sha256: sha256(rows),
      file: join(dir.path, 'in/rows.jsonl'),
      ...changes,
    });

  it('arrives with its hash', async () => {
    await putObject(key, rows);
    await fetch();
    expect(await readFile(join(dir.path, 'in/rows.jsonl'), 'utf8')).toBe(rows);
  });

  it.each([
    ['another hash', { sha256: 'a'.repeat(64) }, /its SHA-256 is [0-9a-f]{64}, expected a{64}/],
    ['another size', { size: 5 }, /has 28 bytes, expected 5/],
  ])('of %s is refused, nothing left in scratch', async (_, changes, message) => {
    await putObject(key, rows);
    const failure = await failing(fetch(changes));
    expect(failure.code).toBe('corrupt');
    expect(failure.message).toMatch(message);
    expect(await readdir(join(dir.path, 'in'))).toEqual([]);
  });
});

describe('a model by s3: URI', () => {
  it('brings the model files right below it, and only those', async () => {
    for (const name of ['config.json', 'model.safetensors', 'README.md', 'onnx/model.onnx'])
      await putObject(`qwen/${name}`, name);
    await performTransfer(context, {
      kind: 'fetch_model',
      uri: 's3://models/qwen',
      dir: join(dir.path, 'init'),
    });
    expect((await readdir(join(dir.path, 'init'))).sort()).toEqual(['config.json', 'model.safetensors']);
  });

  it('that holds none is missing', async () => {
    const transfer = performTransfer(context, {
      kind: 'fetch_model',
      uri: 's3://models/none',
      dir: join(dir.path, 'init'),
    });
    expect(await failing(transfer)).toMatchObject({
      code: 'missing',
      message: expect.stringContaining('s3://models/none'),
    });
  });
});

describe('patience', () => {
  const unreachable = () =>
    new StoreError('unreachable', { store: 's', operation: 'get', key: 'k', problem: 'no answer' });

  it('outlasts a store that comes back', async () => {
    let calls = 0;
    const result = await retrying({ limitMs: 10_000, firstPauseMs: 1 }, async () => {
      if (++calls < 4) throw unreachable();
      return 'here';
    });
    expect([result, calls]).toEqual(['here', 4]);
  });

  it('ends', async () => {
    const failure = await failing(
      retrying({ limitMs: 30, firstPauseMs: 1 }, () => Promise.reject(unreachable())),
    );
    expect(failure.code).toBe('unavailable');
  });

  it.each(['denied', 'full', 'not_found'] as const)(
    'is not spent on a store that answers %s',
    async (code) => {
      let calls = 0;
      const answer = () => {
        calls++;
        return Promise.reject(
          new StoreError(code, { store: 's', operation: 'put', key: 'k', problem: code }),
        );
      };
      expect((await failing(retrying({ limitMs: 10_000, firstPauseMs: 1 }, answer))).code).toBe(
        'unavailable',
      );
      expect(calls).toBe(1);
    },
  );

  it('meets a closed port of a real S3 client', async () => {
    const env = { S3_ENDPOINT: 'http://127.0.0.1:9', S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b' };
    context = { ...context, store: openStore('s3://bucket', env) };
    const transfer = performTransfer(context, {
      kind: 'store_file',
      file: join(import.meta.dirname, 'transfers.test.ts'),
      key: 'k',
    });
    expect(await failing(transfer)).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('127.0.0.1:9'),
    });
  });
});

const mayMount = process.platform === 'linux' && process.getuid?.() === 0;

describe.skipIf(!mayMount)(
  'a full scratch disk (skipped where no file system can be mounted: needs root)',
  () => {
    it('is told with figures before anything is fetched', async () => {
      const disk = join(dir.path, 'disk');
      await mkdir(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
      try {
        const transfer = {
          kind: 'fetch_file',
          key: 'k',
          size: 5 << 20,
          sha256: 'a'.repeat(64),
          file: join(disk, 'rows'),
        } as const;
        const failure = await failing(performTransfer(context, transfer));
        expect(failure.code).toBe('scratch_full');
        expect(failure.message).toMatch(/5242880 bytes are to be fetched, \d+ are free/);
      } finally {
        execFileSync('umount', [disk]);
      }
    });
  },
);

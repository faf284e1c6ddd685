// `millrace push` on both stores, with real processes: a job begins with the pushed model, an interrupted push goes on, and
// what is no model, or not what was announced, is refused by name.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobSpecInput } from '../../api/contract/spec.ts';
import { openStore } from '../../store/open.ts';
import { runCli } from '../cli/run-cli.ts';
import type { Stack } from '../support/stack.ts';
import { startStack } from '../support/stack.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { writeTinyDirectory } from '../support/tiny-directory.ts';
import { until } from '../support/until.ts';
import { stores } from './stores.ts';

describe.each(stores)('millrace push on $name', ({ missing, open }) => {
  describe.skipIf(missing !== false)(missing === false ? 'end to end' : `skipped: ${missing}`, () => {
    let dir: TempDir;
    let stack: Stack;
    let store: { storeUrl: string; storeEnv: Record<string, string> };
    let model: string;
    const cli = (...words: string[]) =>
      runCli(words, {
        ...store.storeEnv,
        MILLRACE_URL: stack.connection.url,
        MILLRACE_KEY: stack.connection.key,
        MILLRACE_DATA: join(dir.path, 'data'),
      });
    beforeAll(async () => {
      dir = await tempDir('push');
      store = await open(dir.path);
      stack = await startStack({ dir: dir.path, ...store });
      model = join(dir.path, 'model');
      await writeTinyDirectory(model);
    }, 60_000);
    afterAll(async () => {
      await stack.stop();
      await dir.remove();
    });

    it('prints a URI that a job begins with and that can be talked to', { timeout: 60_000 }, async () => {
      writeFileSync(join(model, 'README.md'), 'stays here');
      const { code, stdout, stderr } = await cli('push', model);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const uri = stdout.trim();
      expect(uri).toMatch(/^(s3|file):\/\/.*\/models\/proj_[0-9a-z]+\/[0-9a-f]{64}$/);
      expect(await cli('push', model)).toMatchObject({ code: 0, stdout });

      const rows = '{"messages":[{"role":"user","content":"1+1="},{"role":"assistant","content":"2"}]}\n';
      const data = await stack.client.createDataset({ name: 'rows', kind: 'sft' }, rows);
      const { id } = await stack.client.createJob({
        type: 'sft',
        name: 'from-pushed',
        model: { init: { from: 'hf', uri } },
        stage: { kind: 'sft', data: data.id, batch: 1, steps: 1 },
      } as JobSpecInput);
      await until(
        async () => ['succeeded', 'failed'].includes((await stack.client.job(id)).state),
        'the job ends',
        40_000,
      );
      expect(await stack.client.job(id)).toMatchObject({ state: 'succeeded' });

      const words = ['--message', '1+1=', '--max-tokens', '5', '--seed', '1'];
      const spoken = await cli('chat', uri, ...words);
      expect(spoken.code, spoken.stderr).toBe(0);
      expect(spoken.stdout).toBe((await cli('chat', model, ...words)).stdout);
    });

    it('sends only what is not there', async () => {
      const other = join(dir.path, 'other');
      const files = await writeTinyDirectory(other, { seed: 2 });
      const begun = await stack.client.beginModelUpload({ files });
      expect(begun.missing.sort()).toEqual(files.map(({ name }) => name).sort());
      await stack.client.sendModelFile(
        begun.id,
        'model.safetensors',
        readFileSync(join(other, 'model.safetensors')),
      );
      expect((await stack.client.modelUpload(begun.id)).missing).not.toContain('model.safetensors');
      expect(await cli('push', other)).toMatchObject({ code: 0, stdout: `${begun.uri}\n` });
      expect((await stack.client.modelUpload(begun.id)).missing).toEqual([]);
    });

    it('keeps nothing whose bytes are not those that were announced', async () => {
      const bytes = Buffer.from('x'.repeat(100));
      const hash = createHash('sha256').update(bytes).digest('hex');
      const names = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
      const { id, uri } = await stack.client.beginModelUpload({
        files: names.map((name) => ({ name, size: 100, sha256: hash })),
      });
      for (const wrong of [bytes.subarray(1), Buffer.concat([bytes, bytes]), Buffer.from('y'.repeat(100))])
        await expect(stack.client.sendModelFile(id, 'model.safetensors', wrong)).rejects.toMatchObject({
          code: 'invalid_model',
        });
      await expect(stack.client.sendModelFile(id, 'config.json', bytes)).rejects.toMatchObject({
        code: 'invalid_model',
      });
      for (const name of ['other.safetensors', '..%2Fx', 'run.sh'])
        await expect(stack.client.sendModelFile(id, name, bytes)).rejects.toMatchObject({
          code: 'not_found',
        });
      const opened = openStore(store.storeUrl, store.storeEnv);
      const keys: string[] = [];
      for await (const { key } of opened.list(uri.slice(uri.indexOf('/models/') + 1))) keys.push(key);
      expect(keys.filter((key) => !key.endsWith(`${id}.json`))).toEqual([]);
    });
  });
});

describe('what is no model', () => {
  let dir: TempDir;
  beforeAll(async () => {
    dir = await tempDir('push');
  });
  afterAll(() => dir.remove());
  // Nothing listens there: what follows must be said before anything is sent.
  const push = (directory: string) =>
    runCli(['push', directory], { MILLRACE_URL: 'http://127.0.0.1:1', MILLRACE_KEY: 'none' });

  async function changed(name: string, change: (directory: string) => void): Promise<string> {
    const directory = join(dir.path, name);
    await writeTinyDirectory(directory);
    change(directory);
    return directory;
  }

  it('is named with what it lacks', async () => {
    const empty = join(dir.path, 'empty');
    mkdirSync(empty);
    expect((await push(empty)).stderr).toContain(
      'it lacks config.json, tokenizer.json, tokenizer_config.json, model.safetensors (or model.safetensors.index.json with its shards)',
    );
    const headless = await changed('headless', (path) => rmSync(join(path, 'tokenizer.json')));
    expect(await push(headless)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it lacks tokenizer.json\n'),
    });
    expect((await push(join(dir.path, 'absent'))).stderr).toContain('cannot be read');
  });

  it('is named with the shards that its index names and it has not', async () => {
    const sharded = await changed('sharded', (path) => {
      rmSync(join(path, 'model.safetensors'));
      const weight_map = { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' };
      writeFileSync(join(path, 'model.safetensors.index.json'), JSON.stringify({ weight_map }));
      writeFileSync(join(path, weight_map.a), 'x');
    });
    expect((await push(sharded)).stderr).toContain('lacks model-00002-of-00002.safetensors');
  });

  it('is named with a family that the engine does not know', async () => {
    const gpt = await changed('gpt', (path) =>
      writeFileSync(join(path, 'config.json'), '{"model_type":"gpt2"}'),
    );
    expect((await push(gpt)).stderr).toContain(
      'config.json: model_type "gpt2" is not supported: llama, qwen2, qwen3 are',
    );
    const broken = await changed('broken', (path) => writeFileSync(join(path, 'config.json'), '{'));
    expect((await push(broken)).stderr).toContain('config.json is not JSON');
  });

  it('may be links, as the hub’s cache has them', async () => {
    const linked = await changed('linked', (path) => {
      copyFileSync(join(path, 'config.json'), join(dir.path, 'blob'));
      rmSync(join(path, 'config.json'));
      symlinkSync(join(dir.path, 'blob'), join(path, 'config.json'));
    });
    expect((await push(linked)).stderr).toContain('cannot be reached');
  });
});

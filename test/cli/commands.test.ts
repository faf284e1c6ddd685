// The client commands against a real service with a runner: what they print, how they end, and what they say to bad
// input. One service for the whole file.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../api/client.ts';
import { createClient } from '../../api/client.ts';
import type { Explanation } from '../../cli/explain/explanation.ts';
import { tinySpec } from '../e2e/tiny-job.ts';
import type { Serve } from '../support/serve.ts';
import { startServe } from '../support/serve.ts';
import { until } from '../support/until.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { cleanEnv, cliEntry, runCli } from './run-cli.ts';

let dir: TempDir;
let serve: Serve;
let client: Client;
const data = (): string => join(dir.path, 'data');
const cli = (...words: string[]) => runCli([...words, '--data-dir', data()]);
const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? '';

beforeAll(async () => {
  dir = await tempDir('commands');
  serve = await startServe(data());
  const key = readFileSync(join(data(), 'admin.key'), 'utf8').trim();
  client = createClient({ url: serve.url, key });
  // Until then `submit` says that its job waits for a runner.
  await until(async () => (await client.runners()).data.some(({ alive }) => alive));
}, 60_000);
afterAll(async () => {
  await serve.stop();
  await dir.remove();
});

function write(name: string, contents: unknown): string {
  const path = join(dir.path, name);
  writeFileSync(path, typeof contents === 'string' ? contents : JSON.stringify(contents));
  return path;
}

/** A spec file whose rows lie beside it. */
async function specFile(name: string, changes: object = {}): Promise<string> {
  write(
    'rows.jsonl',
    '{"messages":[{"role":"user","content":"1,2:9,1"},{"role":"assistant","content":"3"}]}\n',
  );
  const { model } = await tinySpec(client);
  const stage = { kind: 'sft', data: 'file:rows.jsonl', batch: 1, steps: 2 };
  return write(name, { type: 'sft', name: 'small', model, stage, ...changes });
}

describe('submit, watch, pull', () => {
  it('uploads, posts, follows to the end, and brings the checkpoint home', { timeout: 60_000 }, async () => {
    const path = await specFile('good.json');
    const { code, stdout, stderr } = await cli('submit', path, '--watch');
    expect(stderr).toMatch(/^dataset rows-sft-[0-9a-f]{12}: 1 rows of .*rows\.jsonl\n$/);
    const [id = ''] = stdout.split('\n');
    expect(id).toMatch(/^job_/);
    expect(lastLine(stdout)).toBe(`${id} succeeded`);
    expect(code).toBe(0);
    expect((await cli('watch', id)).stdout).toContain('sft: step 2/2');
    expect((await cli('jobs', '--state', 'succeeded')).stdout).toContain(id);

    const target = join(dir.path, 'model');
    expect(await cli('pull', id, '--to', target)).toMatchObject({ code: 0, stdout: `${target}\n` });
    await expectSamePull(id, target);
  });

  it(
    'explains a spec by what the service knows: a checkpoint, and the runners',
    { timeout: 60_000 },
    async () => {
      const id = (await client.jobs({ state: 'succeeded' })).data[0]!.id;
      const { last_checkpoint } = await client.job(id);
      const init = { from: 'checkpoint', checkpoint: last_checkpoint };
      const { code, stdout, stderr } = await cli(
        'explain',
        await specFile('again.json', { model: { init } }),
        '--json',
      );
      expect([code, stderr]).toEqual([0, '']);
      const said = JSON.parse(stdout) as Explanation;
      expect(said.model).toMatchObject({ modelType: 'llama', hiddenSize: 32, vocabSize: 16 });
      expect(said.runners).toMatchObject([{ name: 'local', alive: true, fits: true }]);
    },
  );

  it('pulls again what was cut short or is damaged', { timeout: 60_000 }, async () => {
    const id = (await client.jobs({ state: 'succeeded' })).data[0]!.id;
    const target = join(dir.path, 'model');
    const [weights, config] = [join(target, 'model.safetensors'), join(target, 'config.json')];
    copyFileSync(weights, `${weights}.part`);
    truncateSync(`${weights}.part`, 1000);
    truncateSync(weights, 0);
    writeFileSync(config, readFileSync(config, 'utf8').replace('llama', 'lambs'));
    expect((await cli('pull', id, '--to', target)).code).toBe(0);
    await expectSamePull(id, target);
  });

  async function expectSamePull(id: string, target: string): Promise<void> {
    const { last_checkpoint } = await client.job(id);
    const { files } = await client.checkpoint(last_checkpoint!);
    for (const { name, sha256 } of files) {
      expect({
        name,
        sha256: createHash('sha256')
          .update(readFileSync(join(target, name)))
          .digest('hex'),
      }).toEqual({
        name,
        sha256,
      });
      expect(existsSync(join(target, `${name}.part`))).toBe(false);
    }
  }

  it(
    'detaches on Ctrl-C without cancelling; cancel ends the job, and watch says so with 3',
    { timeout: 60_000 },
    async () => {
      const spec = await tinySpec(client);
      if (spec.type !== 'cascade') throw new Error('not a cascade');
      const long = { ...spec, stages: [{ ...spec.stages[0]!, steps: 100_000 }] };
      const child = spawn(
        process.execPath,
        [cliEntry, 'submit', write('long.json', long), '--watch', '--data-dir', data()],
        {
          env: cleanEnv(),
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      let output = '';
      let interrupted = false;
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (!interrupted && output.includes('step 1/')) interrupted = child.kill('SIGINT');
      });
      const code = await new Promise((done) => child.once('close', done));
      const [id = ''] = output.split('\n');
      expect(code).toBe(130);
      expect(lastLine(output)).toContain(`stopped watching; ${id} is left as it is`);
      expect((await client.job(id)).state).toBe('running');

      expect((await cli('pause', id)).stdout).toMatch(new RegExp(`^${id} (pausing|paused)\n$`));
      expect((await cli('cancel', id)).stdout).toMatch(new RegExp(`^${id} (cancelling|cancelled)\n$`));
      const watched = await cli('watch', id);
      expect(watched.code).toBe(3);
      expect(lastLine(watched.stdout)).toBe(`${id} cancelled`);
    },
  );
});

describe('bad input', () => {
  const oneMessage = (stderr: string): string => {
    expect(stderr).toMatch(/^millrace: /);
    expect(stderr).not.toMatch(/\n +at /); // no stack
    return stderr;
  };

  it('a wrong key', async () => {
    const { code, stderr } = await runCli(['jobs'], { MILLRACE_URL: serve.url, MILLRACE_KEY: 'mr_wrong' });
    expect(code).toBe(1);
    expect(oneMessage(stderr)).toContain('does not accept the key. Set MILLRACE_KEY');
  });

  it('no service at that address', async () => {
    const { code, stderr } = await runCli(['jobs'], {
      MILLRACE_URL: 'http://127.0.0.1:9',
      MILLRACE_KEY: 'x',
    });
    expect(code).toBe(1);
    expect(oneMessage(stderr)).toMatch(
      /http:\/\/127\.0\.0\.1:9 cannot be reached: .*\nIs the service running\?/,
    );
  });

  it('an address that is none, and no address at all', async () => {
    const bad = await runCli(['jobs'], { MILLRACE_URL: 'localhost', MILLRACE_KEY: 'x' });
    expect(oneMessage(bad.stderr)).toContain('"localhost" is not the address of a service');
    const none = await runCli(['jobs', '--data-dir', join(dir.path, 'nothing')]);
    expect(oneMessage(none.stderr)).toContain('start one with millrace serve');
  });

  it('a malformed spec: every place is named, nothing is posted', async () => {
    const path = await specFile('bad.json', {
      stage: { kind: 'sft', data: 'file:rows.jsonl', lr: 0, bach: 1 },
      seed: -1,
    });
    const { code, stdout, stderr } = await cli('submit', path);
    expect([code, stdout]).toEqual([1, '']);
    for (const place of ['/stage/lr', '/stage/bach: there is no such field', '/seed'])
      expect(oneMessage(stderr)).toContain(place);
  });

  it('a dataset that the service does not know', async () => {
    const path = await specFile('unknown-data.json', {
      stage: { kind: 'sft', data: 'never-uploaded', steps: 1 },
    });
    const { code, stderr } = await cli('submit', path);
    expect(code).toBe(1);
    expect(oneMessage(stderr).match(/\/stage\/data: there is no dataset/g)).toHaveLength(1);
  });

  it('what is no JSONL, or no file: the file is named, not a body', async () => {
    const rows = write('words.jsonl', 'hello\n');
    const words = await specFile('words.json', {
      stage: { kind: 'sft', data: 'file:words.jsonl', steps: 1 },
    });
    expect(oneMessage((await cli('submit', words)).stderr)).toMatch(`millrace: ${rows}: line 1 of the body`);
    const folder = await specFile('folder.json', { stage: { kind: 'sft', data: 'file:.', steps: 1 } });
    expect(oneMessage((await cli('submit', folder)).stderr)).toContain('/stage/data: ');
    expect(oneMessage((await cli('submit', dir.path)).stderr)).toContain(
      `the spec ${dir.path} cannot be read`,
    );
  });

  it('an address where something else answers', async () => {
    const other = createServer((_, response) => void response.writeHead(404).end()).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, stderr } = await runCli(['jobs'], { MILLRACE_URL: url, MILLRACE_KEY: 'x' });
    other.close();
    expect(code).toBe(1);
    expect(oneMessage(stderr)).toContain('not an answer of millrace. Does MILLRACE_URL name the service?');
  });

  it.each([
    ['jobs', ''],
    ['cancel', 'job_x'],
    ['pull', 'job_00000000000000000000000000'],
    ['submit', 'upload'],
  ])('%s: Ctrl-C ends it where the service does not answer', async (command, argument) => {
    const mute = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`;
    const words = argument === 'upload' ? [await specFile('hangs.json')] : argument ? [argument] : [];
    const child = spawn(process.execPath, [cliEntry, command, ...words], {
      env: { ...cleanEnv(), MILLRACE_URL: url, MILLRACE_KEY: 'x' },
      stdio: 'ignore',
    });
    await once(mute, 'request');
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
    mute.closeAllConnections();
    mute.close();
  });

  it('broken rows: the file and the rows are named', async () => {
    write(
      'broken.jsonl',
      '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n{"text":"x"}\n',
    );
    const path = await specFile('broken.json', {
      stage: { kind: 'sft', data: 'file:broken.jsonl', steps: 1 },
    });
    const { code, stderr } = await cli('submit', path);
    expect(code).toBe(1);
    expect(oneMessage(stderr)).toMatch(
      /broken\.jsonl: 1 of 2 rows \(counted from 0\) are not sft rows:\n {2}row 1/,
    );
  });

  it('a model directory that is not there: the job fails and says which', { timeout: 60_000 }, async () => {
    const path = await specFile('no-model.json', { model: { init: { from: 'hf', uri: '/nowhere/model' } } });
    const { code, stdout } = await cli('submit', path, '--watch');
    expect(code).toBe(1);
    expect(lastLine(stdout)).toMatch(/^job_\w+ failed \(invalid_model\): .*\/nowhere\/model/);
  });

  it('a tokenizer that nobody knows: the job fails and says which', { timeout: 60_000 }, async () => {
    const folder = join(dir.path, 'tokenizer');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'tokenizer.json'), '{"version":"1.0","model":{"type":"Mystery"}}');
    writeFileSync(join(folder, 'tokenizer_config.json'), '{}');
    const { model } = await tinySpec(client);
    const path = await specFile('odd-tokenizer.json', {
      model: { init: { ...model.init, tokenizer: { uri: folder } } },
    });
    const { code, stdout } = await cli('submit', path, '--watch');
    expect(code).toBe(1);
    expect(lastLine(stdout)).toMatch(/^job_\w+ failed \(invalid_model\): .*tokenizer/);
  });

  it.each([
    ['watch', 'job_00000000000000000000'],
    ['cancel', 'job_00000000000000000000'],
    ['pull', 'job_00000000000000000000'],
    ['pull', 'ckpt_00000000000000000000'],
  ])('%s of %s, which is not there', async (command, id) => {
    const { code, stderr } = await cli(command, id);
    expect(code).toBe(1);
    expect(oneMessage(stderr)).toContain(id);
  });

  it('pull of what is no id', async () => {
    expect(oneMessage((await cli('pull', 'latest')).stderr)).toContain(
      'latest is neither a job (job_…) nor a checkpoint',
    );
  });

  it('a port that is taken', { timeout: 60_000 }, async () => {
    const { port } = new URL(serve.url);
    const { code, stderr } = await runCli(['serve', '--port', port, '--data-dir', join(dir.path, 'second')]);
    expect(code).toBe(1);
    expect(oneMessage(stderr)).toContain(`cannot listen on 127.0.0.1:${port}`);
    expect(stderr).toContain('--port');
  });

  it('a data directory that is a file', async () => {
    const path = write('a-file', '');
    const { code, stderr } = await runCli(['serve', '--port', '0', '--data-dir', path]);
    expect(code).toBe(1);
    expect(oneMessage(stderr)).toMatch(`${path} cannot be the data directory: `);
  });
});

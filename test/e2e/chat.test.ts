// Talking to a checkpoint with every process real: API, `millrace runner --serve`, the engine on a tiny random model. What
// clients of such endpoints rely on: the stream's form, stop strings, limits, disconnects, and errors that say whose they are.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEventStream } from '../../api/client/event-stream.ts';
import { createClient } from '../../api/client.ts';
import type { ChatChunk, ChatCompletion } from '../../api/contract/chat.ts';
import { runCli } from '../cli/run-cli.ts';
import type { ApiProcess } from '../runner/support/api-process.ts';
import { startApi } from '../runner/support/api-process.ts';
import { childOf } from '../runner/support/processes.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import { tinyEnd } from '../support/tiny-directory.ts';
import { until } from '../support/until.ts';
import type { ServedRunner } from './serving.ts';
import { commitCheckpoint, serveModel } from './serving.ts';

let dir: TempDir;
let api: ApiProcess;
let strangerKey: string;
let checkpoint: string;
let served: ServedRunner | undefined;

/** Never ends by itself before its limit. */
const endless = { logit_bias: { [tinyEnd]: -100 } };
const hello = { messages: [{ role: 'user', content: '1+1=' }], seed: 3, ...endless };

const serve = (model: string, ...flags: string[]) => serveModel(api, join(dir.path, 'data'), model, ...flags);

beforeAll(async () => {
  dir = await tempDir('chat');
  const storeDir = join(dir.path, 'store');
  api = await startApi(pathToFileURL(storeDir).href);
  strangerKey = api.key('admin', 'strangers');
  checkpoint = await commitCheckpoint(api, storeDir, join(dir.path, 'checkpoint'));
  served = await serve(checkpoint, '--as', 'tiny', '--context', '4096', '--parallel', '4');
}, 60_000);

afterAll(async () => {
  served?.child.kill('SIGTERM');
  if (served !== undefined) await until(() => served?.child.exitCode !== null, 'the serving runner ends');
  await api.stop();
  await dir.remove();
});

interface Asking {
  readonly key?: string;
  readonly signal?: AbortSignal;
}

function ask(body: unknown, { key = api.adminKey, signal }: Asking = {}): Promise<Response> {
  return fetch(`${api.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

async function completion(body: object): Promise<ChatCompletion> {
  const response = await ask({ model: 'tiny', ...body });
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as ChatCompletion;
}

/** The data of the events, the last included. */
async function streamed(body: object): Promise<string[]> {
  const response = await ask({ model: 'tiny', stream: true, ...body });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const data: string[] = [];
  for await (const message of readEventStream(response.body!)) data.push(message.data);
  return data;
}

interface ErrorBody {
  error: { message: string; type: string; code: string; param: string | null };
}

async function refusal(response: Response): Promise<{ status: number } & ErrorBody['error']> {
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  return { status: response.status, ...((await response.json()) as ErrorBody).error };
}

describe('answers', () => {
  it('are the same streamed and whole, by the checkpoint’s id and by its name', async () => {
    const whole = await completion({ ...hello, max_tokens: 12 });
    expect(whole).toMatchObject({
      object: 'chat.completion',
      model: 'tiny',
      choices: [{ index: 0, finish_reason: 'length', message: { role: 'assistant' } }],
      usage: { prompt_tokens: 5, completion_tokens: 12, total_tokens: 17 },
    });
    const data = await streamed({ ...hello, model: checkpoint, max_tokens: 12 });
    expect(data.pop()).toBe('[DONE]');
    const chunks = data.map((text) => JSON.parse(text) as ChatChunk);
    expect(chunks[0]!.choices[0]!.delta.role).toBe('assistant');
    expect(chunks.length).toBeGreaterThan(8);
    expect(chunks.every((chunk) => chunk.id === chunks[0]!.id && chunk.model === checkpoint)).toBe(true);
    expect(chunks.map((chunk) => chunk.choices[0]!.delta.content ?? '').join('')).toBe(
      whole.choices[0]!.message.content,
    );
    const reasons = chunks.map((chunk) => chunk.choices[0]!.finish_reason);
    expect(reasons.filter((reason) => reason !== null)).toEqual(['length']);
    expect(reasons.at(-1)).toBe('length');
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
  });

  it('count themselves in a last chunk where that is asked for', async () => {
    const data = await streamed({ ...hello, max_tokens: 4, stream_options: { include_usage: true } });
    const chunks = data.slice(0, -1).map((text) => JSON.parse(text) as ChatChunk);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 4 } });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  });

  it('end before a stop string, no piece of which is ever streamed', async () => {
    const whole = (await completion({ ...hello, max_tokens: 40 })).choices[0]!.message.content;
    const stop = [whole.slice(20, 23), 'never said'];
    const before = whole.slice(0, whole.indexOf(stop[0]!));
    const cut = await completion({ ...hello, max_tokens: 40, stop });
    expect(cut.choices[0]).toMatchObject({ message: { content: before }, finish_reason: 'stop' });
    expect(cut.usage.completion_tokens).toBeLessThan(40);
    const chunks = (await streamed({ ...hello, max_tokens: 40, stop })).slice(0, -1);
    let text = '';
    for (const chunk of chunks) {
      text += (JSON.parse(chunk) as ChatChunk).choices[0]!.delta.content ?? '';
      expect(before.startsWith(text)).toBe(true);
    }
    expect(text).toBe(before);
  });

  it('end with the model’s end token, which is no text', async () => {
    const answer = await completion({ ...hello, logit_bias: { [tinyEnd]: 100 } });
    expect(answer.choices[0]).toMatchObject({ message: { content: '' }, finish_reason: 'stop' });
    expect(answer.usage.completion_tokens).toBe(1);
  });

  it('are several where n says so, each with draws of its own', async () => {
    const { choices, usage } = await completion({ ...hello, n: 3, max_tokens: 30 });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(new Set(choices.map(({ message }) => message.content)).size).toBe(3);
    expect(usage.completion_tokens).toBe(90);
  });

  it('do not depend on who else is being answered, in however many ways words are drawn', async () => {
    const bodies = Array.from({ length: 8 }, (_, i) => ({
      ...hello,
      seed: i,
      max_tokens: 20 + i,
      temperature: i % 3 === 0 ? 0 : 1,
    }));
    const together = await Promise.all(bodies.map(completion));
    for (const [i, body] of bodies.entries())
      expect((await completion(body)).choices).toEqual(together[i]!.choices);
  });
});

describe('what is refused', () => {
  const message = { role: 'user', content: 'x' };
  const valid = { model: 'tiny', messages: [message] };
  const bad: [string, unknown, string | null][] = [
    ['no JSON', '{', null],
    ['an empty body', '', null],
    ['no object', [], null],
    ['no messages', { model: 'tiny' }, 'messages'],
    ['empty messages', { ...valid, messages: [] }, 'messages'],
    ['an unknown role', { ...valid, messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    ['no text', { ...valid, messages: [message, { role: 'user', content: 7 }] }, 'messages[1].content'],
    [
      'an image',
      { ...valid, messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      'messages[0].content[0].type',
    ],
    ['an unknown field', { ...valid, temprature: 1 }, 'temprature'],
    ['tools', { ...valid, tools: [] }, 'tools'],
    ['logprobs', { ...valid, logprobs: true }, 'logprobs'],
    ['a penalty', { ...valid, frequency_penalty: 0.5 }, 'frequency_penalty'],
    ['a response format', { ...valid, response_format: { type: 'json_object' } }, 'response_format.type'],
    ['a high temperature', { ...valid, temperature: 2.5 }, 'temperature'],
    ['no token', { ...valid, max_tokens: 0 }, 'max_tokens'],
    ['an empty stop', { ...valid, stop: '' }, 'stop'],
    ['a token that is none', { ...valid, logit_bias: { a: 1 } }, 'logit_bias.a'],
    ['a token beyond the vocabulary', { ...valid, logit_bias: { 5000: 1 } }, 'logit_bias[5000]'],
    [
      'thinking of a model without',
      { ...valid, chat_template_kwargs: { enable_thinking: true } },
      'chat_template_kwargs.enable_thinking',
    ],
    ['two limits', { ...valid, max_tokens: 1, max_completion_tokens: 2 }, 'max_tokens'],
  ];
  it.each(bad)('%s', async (_, body, param) => {
    const { status, type, message: text, ...rest } = await refusal(await ask(body));
    expect({ status, type }).toEqual({ status: 400, type: 'invalid_request_error' });
    expect(rest.param).toBe(param);
    expect(text).not.toBe('');
  });

  it('nulls and defaults that official clients send are none of it', async () => {
    const nulls = ['tools', 'response_format', 'stop', 'seed', 'user', 'n', 'logprobs', 'stream_options'];
    const extra = Object.fromEntries(nulls.map((name) => [name, null]));
    const history = [
      message,
      { role: 'assistant', content: '2', refusal: null, annotations: [], tool_calls: null },
      { role: 'user', content: [{ type: 'text', text: '1' }] },
    ];
    await completion({ messages: history, max_completion_tokens: 2, presence_penalty: 0, ...extra });
  });

  it('what does not fit the context', async () => {
    const long = { model: 'tiny', messages: [{ role: 'user', content: '1'.repeat(5_000) }] };
    expect(await refusal(await ask(long))).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'messages',
    });
    // Refused before it is encoded.
    const vast = { model: 'tiny', messages: [{ role: 'user', content: '1'.repeat(900_000) }] };
    expect(await refusal(await ask(vast))).toMatchObject({
      code: 'context_length_exceeded',
      message: expect.stringContaining('characters'),
    });
    expect(await refusal(await ask({ ...valid, max_tokens: 4_096 }))).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'max_tokens',
    });
  });

  it('a model that nobody knows, and one of another project', async () => {
    expect(await refusal(await ask({ ...valid, model: 'nobody' }))).toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
    for (const model of ['tiny', checkpoint])
      expect(await refusal(await ask({ ...valid, model }, { key: strangerKey }))).toMatchObject({
        status: 404,
        code: 'model_not_found',
      });
  });

  it('keys that may not', async () => {
    expect(await refusal(await ask(valid, { key: 'mr_none' }))).toMatchObject({
      status: 401,
      type: 'authentication_error',
    });
    expect(await refusal(await ask(valid, { key: api.runnerKey }))).toMatchObject({
      status: 403,
      type: 'permission_error',
    });
  });
});

describe('serving runners', () => {
  const registration = {
    protocol: 1,
    name: 'other',
    checkpoint: null,
    model: 'other',
    secret: 'x'.repeat(20),
    version: 'test',
  };

  it('are listed as models, for their own project only', async () => {
    const models = async (key: string) =>
      (await (
        await fetch(`${api.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
      ).json()) as { data: { id: string }[] };
    expect((await models(api.adminKey)).data.map(({ id }) => id).sort()).toEqual([checkpoint, 'tiny'].sort());
    expect((await models(strangerKey)).data).toEqual([]);
  });

  it('are found by name, as the list names them', async () => {
    const model = async (name: string, key: string) => {
      const answer = await fetch(`${api.url}/v1/models/${name}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return { status: answer.status, body: (await answer.json()) as unknown };
    };
    for (const id of ['tiny', checkpoint])
      expect(await model(id, api.adminKey)).toMatchObject({ status: 200, body: { id, object: 'model' } });
    for (const [id, key] of [
      ['nobody', api.adminKey],
      ['tiny', strangerKey],
    ] as const)
      expect(await model(id, key)).toMatchObject({
        status: 404,
        body: { error: { code: 'model_not_found' } },
      });
  });

  it('answer nobody without the secret, and are passed over where theirs is wrong', async () => {
    const url = /"url":"(http[^"]+)"/.exec(served!.lines.join('\n'))![1]!;
    for (const authorization of ['Bearer wrong', '']) {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization },
      });
      expect(response.status).toBe(401);
    }
    await api.client.runner.serve({ ...registration, url });
    expect(await refusal(await ask({ ...hello, model: 'other' }))).toMatchObject({
      status: 503,
      code: 'no_serving_runner',
    });
  });

  it('may not advertise where credentials of a cloud lie, nor serve a checkpoint of another project', async () => {
    for (const url of [
      'http://169.254.169.254/',
      'http://2852039166/',
      'http://[::ffff:169.254.1.1]/',
      'http://[fd00:ec2:0::254]/',
      'ftp://x/',
    ])
      await expect(api.client.runner.serve({ ...registration, url })).rejects.toMatchObject({
        code: 'invalid_spec',
      });
    const stranger = createClient({ url: api.url, key: strangerKey });
    await expect(
      stranger.runner.serve({ ...registration, checkpoint, url: 'http://127.0.0.1:1' }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([true, false])('stop writing when the client has gone (stream: %s)', async (stream) => {
    served!.lines.length = 0;
    const said = (what: string) => served!.lines.find((line) => line.includes(`"${what}"`));
    const client = new AbortController();
    const asked = ask({ ...hello, model: 'tiny', stream, max_tokens: 4_000 }, { signal: client.signal });
    asked.catch(() => undefined);
    await until(() => said('answering') !== undefined, 'the runner begins');
    if (stream) await (await asked).body!.getReader().read();
    client.abort();
    await until(() => said('the client has gone') !== undefined, 'the runner notices');
    const { completion_tokens } = JSON.parse(said('the client has gone')!) as { completion_tokens: number };
    // Not written to its end, however late a busy machine lets the news through.
    expect(completion_tokens).toBeLessThan(4_000);
  });

  it('that die in the middle end the stream with an error, and the model is served no more', async () => {
    const doomed = await serve(join(dir.path, 'checkpoint'), '--as', 'doomed');
    const response = await ask({ ...hello, model: 'doomed', stream: true, max_tokens: 4_000 });
    const data: string[] = [];
    for await (const message of readEventStream(response.body!)) {
      if (data.length === 0) process.kill(childOf(doomed.child.pid!, 'runner/serve.ts')!, 'SIGKILL');
      data.push(message.data);
    }
    expect(JSON.parse(data.at(-1)!)).toMatchObject({
      error: { code: 'serving_runner_lost', type: 'server_error' },
    });
    expect(await refusal(await ask({ ...hello, model: 'doomed' }))).toMatchObject({
      status: 503,
      code: 'no_serving_runner',
    });
  });
});

describe('millrace chat', () => {
  it('pulls the checkpoint and answers once, the answer alone on standard output', async () => {
    const words = [
      'chat',
      checkpoint,
      '--message',
      '1+1=',
      '--max-tokens',
      '12',
      '--seed',
      '3',
      '--stop',
      'zz',
    ];
    const env = { MILLRACE_URL: api.url, MILLRACE_KEY: api.adminKey, MILLRACE_DATA: join(dir.path, 'data') };
    const [one, two] = [await runCli(words, env), await runCli(words, env)];
    expect(one).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/5 tokens of prompt, \d+ of answer.* tokens\/s/),
    });
    expect(one.stdout).toMatch(/^[0-9,:+= ]*\n$/);
    expect(two.stdout).toBe(one.stdout);
    expect(readFileSync(join(dir.path, 'data/models', checkpoint, 'config.json'), 'utf8')).toContain('llama');
  });
});

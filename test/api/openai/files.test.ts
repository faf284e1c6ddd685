// Files through OpenAI's own client and through plain HTTP: what is kept, what is refused and how that is told.
import { gzipSync } from 'node:zlib';
import { toFile } from 'openai';
import { describe, expect, test } from 'vitest';
import { useApi } from '../support.ts';
import { chatRow, jsonl, openAi, upload } from './support.ts';

const api = useApi({ limits: { datasetBytes: 100_000 } });
const rows = [chatRow('hi', 'hello'), chatRow('bye', 'goodbye')];

async function post(fields: Record<string, string | Blob>, init: RequestInit = {}): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return api.request('POST', '/v1/files', { body: form, ...init });
}
const file = (text: string, name = 'rows.jsonl') => new File([text], name);

describe('a file', () => {
  test('is uploaded, listed, read and deleted', async () => {
    const client = openAi(api);
    const text = jsonl(rows);
    const created = await client.files.create({
      file: await toFile(Buffer.from(text), 'träning.jsonl'),
      purpose: 'fine-tune',
    });
    expect(created).toEqual({
      id: expect.stringMatching(/^file_[0-9a-z]{26}$/) as string,
      object: 'file',
      bytes: Buffer.byteLength(text),
      created_at: expect.any(Number) as number,
      filename: 'träning.jsonl',
      purpose: 'fine-tune',
      status: 'processed',
      expires_at: null,
    });
    expect(Math.abs(created.created_at - Date.now() / 1_000)).toBeLessThan(60);
    expect(await client.files.retrieve(created.id)).toEqual(created);
    expect(await (await client.files.content(created.id)).text()).toBe(text);
    expect(await client.files.waitForProcessing(created.id)).toEqual(created);
    expect(await client.files.delete(created.id)).toEqual({ id: created.id, object: 'file', deleted: true });
    await expect(client.files.retrieve(created.id)).rejects.toMatchObject({ status: 404, code: 'not_found' });
    await expect(client.files.delete(created.id)).rejects.toMatchObject({ status: 404 });
    const held: string[] = [];
    for await (const { key } of api.store.list('files/')) held.push(key);
    expect(held).toEqual([]);
  });

  test('is paged by the client itself, in either order', async () => {
    const client = openAi(api);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await upload(client, rows, `${i}.jsonl`));
    for (const order of ['asc', 'desc'] as const) {
      const listed: string[] = [];
      for await (const { id } of client.files.list({ limit: 2, order })) listed.push(id);
      expect(listed).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1) * (order === 'asc' ? 1 : -1)));
    }
    const none = await client.files.list({ purpose: 'fine-tune-results' });
    expect(none.data).toEqual([]);
    for (const id of ids) await client.files.delete(id);
  });

  test('of another project looks like none', async () => {
    const id = await upload(openAi(api), rows);
    const stranger = openAi(api, api.strangerKey);
    for (const call of [
      () => stranger.files.retrieve(id),
      () => stranger.files.content(id),
      () => stranger.files.delete(id),
    ])
      await expect(call()).rejects.toMatchObject({ status: 404 });
    expect((await stranger.files.list()).data).toEqual([]);
  });

  test('is made once for one Idempotency-Key', async () => {
    const send = (text: string) =>
      post({ purpose: 'fine-tune', file: file(text) }, { headers: { 'idempotency-key': 'k1' } });
    const first = (await (await send(jsonl(rows))).json()) as { id: string };
    expect(await (await send(jsonl(rows))).json()).toEqual(first);
    expect((await send(jsonl([rows[0]]))).status).toBe(409);
    expect((await post({ purpose: 'x' }, { headers: { 'idempotency-key': 'a b' } })).status).toBe(400);
  });

  test('may be gzipped', async () => {
    const response = await post({ purpose: 'fine-tune', file: new File([gzipSync(jsonl(rows))], 'a.gz') });
    expect(response.status).toBe(200);
  });
});

describe('refused with its field in OpenAI’s form is', () => {
  test.each([
    ['no file', { purpose: 'fine-tune' }, 'file'],
    ['a file without a name', { purpose: 'fine-tune', file: jsonl(rows) }, 'file'],
    ['no purpose', { file: file(jsonl(rows)) }, 'purpose'],
    ['another purpose', { purpose: 'assistants', file: file(jsonl(rows)) }, 'purpose'],
    ['an expiry', { purpose: 'fine-tune', 'expires_after[anchor]': 'created_at' }, 'expires_after[anchor]'],
    ['a row that is no object', { purpose: 'fine-tune', file: file('{}\n[1]\n') }, 'file'],
    ['no row', { purpose: 'fine-tune', file: file('\n\n') }, 'file'],
  ] as const)('%s', async (_what, fields, param) => {
    const response = await post(fields);
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        error: {
          message: expect.stringContaining(param) as string,
          type: 'invalid_request_error',
          code: 'invalid_spec',
          param,
        },
      },
    ]);
  });

  test('what is no JSON, and too large, and no form', async () => {
    const notJson = await post({ purpose: 'fine-tune', file: file('{"a":1}\nnot json\n') });
    expect([notJson.status, await notJson.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_dataset' } },
    ]);
    const large = await post({ purpose: 'fine-tune', file: file(`{"a":"${'x'.repeat(100_000)}"}`) });
    expect([large.status, await large.json()]).toMatchObject([413, { error: { code: 'too_large' } }]);
    const json = await api.request('POST', '/v1/files', { json: {} });
    expect([json.status, await json.json()]).toMatchObject([
      415,
      { error: { code: 'unsupported_media_type' } },
    ]);
    const cut = await api.request('POST', '/v1/files', {
      body: '--x\r\n',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    expect([cut.status, await cut.json()]).toMatchObject([400, { error: { code: 'invalid_form' } }]);
  });

  test('a key without the scope, no key, another method, a query that is not known', async () => {
    await expect(upload(openAi(api, api.keys.read), rows)).rejects.toMatchObject({ status: 403 });
    await expect(upload(openAi(api, 'wrong-key'), rows)).rejects.toMatchObject({ status: 401 });
    const put = await api.request('PUT', '/v1/files');
    expect([put.status, await put.json()]).toMatchObject([405, { error: { code: 'method_not_allowed' } }]);
    const query = await api.request('GET', '/v1/files?limits=1');
    expect([query.status, await query.json()]).toMatchObject([400, { error: { param: 'limits' } }]);
  });
});

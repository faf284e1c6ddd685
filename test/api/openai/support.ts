// The official client of OpenAI's API on an app of ours, and rows as its users have them.
import OpenAI, { toFile } from 'openai';
import { namedModel } from '../../../api/contract/model-names.ts';
import type { Fixture } from '../support.ts';
import { url } from '../support.ts';

export const openAi = (api: Fixture, key?: string): OpenAI =>
  new OpenAI({
    apiKey: key ?? api.keys.admin,
    baseURL: `${url}/v1`,
    maxRetries: 0,
    fetch: (input, init) => Promise.resolve(api.app.request(input as string, init as RequestInit)),
  });

export const jsonl = (rows: readonly unknown[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');

export const chatRow = (question: string, answer: string) => ({
  messages: [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ],
});

export const sums = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    messages: [{ role: 'user', content: `${i}+1=` }],
    answer: String(i + 1),
  }));

/** Uploads rows for training; its id. */
export async function upload(client: OpenAI, rows: readonly unknown[], name = 'rows.jsonl'): Promise<string> {
  const file = await toFile(Buffer.from(jsonl(rows)), name);
  return (await client.files.create({ file, purpose: 'fine-tune' })).id;
}

/** What a model's name stands for in these tests: a tiny one, with random weights. */
export const tinyModel = namedModel.parse({
  init: {
    from: 'config',
    config: {
      hidden_size: 16,
      intermediate_size: 32,
      num_hidden_layers: 1,
      num_attention_heads: 2,
      max_position_embeddings: 64,
    },
    tokenizer: { type: 'characters', alphabet: '0123456789+=' },
  },
});

// What a runner can do to the service by answering badly: nothing but lose the request.
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { gather } from '../../api/chat/answer.ts';
import { askRunner } from '../../api/chat/upstream.ts';
import type { ChatChunk } from '../../api/contract/chat.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function runnerThat(answers: RequestListener): Promise<string> {
  server = createServer(answers);
  await new Promise<void>((listening) => server!.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const request = { model: 'a', messages: [{ role: 'user' as const, content: 'b' }] };

test('a refusal that never ends is one that did not come', async () => {
  const url = await runnerThat((_, response) => {
    response.writeHead(500, { 'content-type': 'application/json' }).write('{');
  });
  const asked = askRunner({ url, secret: 'x'.repeat(20) }, request, new AbortController().signal, 100);
  await expect(asked).resolves.toBeUndefined();
});

test('an answer that never ends is not gathered', async () => {
  const content = 'x'.repeat(1 << 22);
  let given = 0;
  async function* chunks(): AsyncGenerator<ChatChunk> {
    for (; given < 100; given += 1)
      yield {
        id: 'a',
        object: 'chat.completion.chunk',
        created: 0,
        model: 'a',
        choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
      };
  }
  await expect(gather(chunks())).rejects.toMatchObject({ code: 'serving_runner_lost' });
  expect(given).toBe(16);
});

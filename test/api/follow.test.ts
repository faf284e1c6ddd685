// Following events through a connection that broke without a word, as after a machine was suspended or a network cut.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createClient } from '../../api/client.ts';

const eventText = (seq: number, to: string): string => {
  const event = {
    seq,
    attempt: 0,
    created_at: new Date(0).toISOString(),
    body: { type: 'state', from: null, to },
  };
  return `id: ${seq}\nevent: state\ndata: ${JSON.stringify(event)}\n\n`;
};

it('asks again from the last event where the stream falls silent', async () => {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers['last-event-id']);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (asked.length === 1) return void response.write(eventText(1, 'queued'));
    response.end(eventText(2, 'cancelled'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createClient({ url: `http://127.0.0.1:${port}`, key: 'key', silenceMs: 300, pauseMs: 1 });
  const seen: number[] = [];
  for await (const { seq } of client.events('job_1')) seen.push(seq);
  expect(seen).toEqual([1, 2]);
  expect(asked).toEqual(['0', '1']);
  server.closeAllConnections();
  server.close();
});

// The typed client against a real HTTP server that misbehaves as networks and proxies do: what is repeated and what is
// not, what errors say, and the reader of event streams.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { Client } from '../../api/client.ts';
import { ApiError, UnreachableError, createClient } from '../../api/client.ts';
import { readEventStream } from '../../api/client/event-stream.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Answers one call after the other; the last answer stands for all that follow. */
async function serving(
  ...answers: Answer[]
): Promise<{ client: Client; calls: IncomingMessage[]; bodies: string[] }> {
  const calls: IncomingMessage[] = [];
  const bodies: string[] = [];
  server = createServer((request, response) => {
    const answer = answers[Math.min(calls.length, answers.length - 1)] as Answer;
    calls.push(request);
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      bodies.push(body);
      answer(request, response, body);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server?.once('listening', listening));
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return { client: createClient({ url, key: 'k', pauseMs: 1, timeoutMs: 2_000, tries: 4 }), calls, bodies };
}

const cut: Answer = (request) => request.socket.destroy();
const badGateway: Answer = (_request, response) =>
  void response.writeHead(502).end('<html>bad gateway</html>');
const emptyPage: Answer = (_request, response) =>
  void response.end(JSON.stringify({ data: [], has_more: false, first_id: null, last_id: null }));
const problem =
  (status: number, code: string): Answer =>
  (_request, response) =>
    void response.writeHead(status).end(
      JSON.stringify({
        type: 'x',
        title: 't',
        status,
        code,
        detail: 'what to do',
        issues: [{ pointer: '/a', message: 'm' }],
      }),
    );

const slowDown =
  (seconds: string): Answer =>
  (request, response) => {
    response.setHeader('retry-after', seconds);
    problem(429, 'rate_limited')(request, response, '');
  };

describe('calls', () => {
  test('that may be repeated are, over broken connections and gateways', async () => {
    const { client, calls } = await serving(cut, badGateway, problem(503, 'database_unavailable'), emptyPage);
    expect((await client.jobs()).data).toEqual([]);
    expect(calls).toHaveLength(4);
  });

  test('are given up after the last try, with the reason', async () => {
    const { client, calls } = await serving(badGateway);
    await expect(client.jobs()).rejects.toThrow('<html>bad gateway</html>');
    expect(calls).toHaveLength(4);
    server?.close();
    server?.closeAllConnections();
    await expect(client.jobs()).rejects.toThrow(UnreachableError);
    await expect(client.jobs()).rejects.toThrow(/^http:\/\/127.0.0.1:\d+ cannot be reached: .*ECONNREFUSED/);
  });

  test('that create are repeated under one Idempotency-Key', async () => {
    const { client, calls, bodies } = await serving(cut, problem(422, 'invalid_spec'));
    const spec = { type: 'cascade' } as never;
    await expect(client.createJob(spec)).rejects.toThrow(ApiError);
    const keys = calls.map((call) => call.headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(bodies).toEqual(['{"type":"cascade"}', '{"type":"cascade"}']);
  });

  test('that must not be repeated are not: a claim, a heartbeat', async () => {
    const { client, calls } = await serving(cut);
    const runner = 'run_00000000000000000000000000';
    await expect(client.runner.claim({ runner })).rejects.toThrow(UnreachableError);
    await expect(
      client.runner.heartbeat({ runner, job: 'job_00000000000000000000000000', attempt: 1 }),
    ).rejects.toThrow(UnreachableError);
    expect(calls).toHaveLength(2);
  });

  test('are sent again when the service says that they come too fast, not before it says', async () => {
    const { client, calls } = await serving(slowDown('1'), emptyPage);
    const began = performance.now();
    expect((await client.jobs()).data).toEqual([]);
    expect(performance.now() - began).toBeGreaterThanOrEqual(1_000);
    expect(calls).toHaveLength(2);
  });

  test('that must not be repeated are, where they were refused for their pace: nothing was done', async () => {
    const nothing: Answer = (_request, response) => void response.end('{"claim":null}');
    const { client, calls } = await serving(slowDown('0'), nothing);
    expect(await client.runner.claim({ runner: 'run_00000000000000000000000000' })).toEqual({ claim: null });
    expect(calls).toHaveLength(2);
  });

  test('are not held back for hours', async () => {
    const { client, calls } = await serving(slowDown('3600'));
    await expect(client.jobs()).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 3_600_000 });
    expect(calls).toHaveLength(1);
  });

  test('end when no answer comes in time, or the caller gives up', async () => {
    const { client } = await serving(() => undefined);
    const runner = 'run_00000000000000000000000000';
    await expect(client.runner.claim({ runner }, { timeoutMs: 30 })).rejects.toThrow(
      'no answer within 30 ms',
    );
    await expect(
      client.runner.claim({ runner }, { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
  });

  test('tell a problem whole: status, code, detail, places', async () => {
    const { client } = await serving(problem(422, 'invalid_spec'));
    const error = await client.jobs().catch((cause: unknown) => cause);
    expect(error).toMatchObject({
      status: 422,
      code: 'invalid_spec',
      detail: 'what to do',
      issues: [{ pointer: '/a', message: 'm' }],
    });
    expect((error as Error).message).toBe('invalid_spec (422): what to do\n  /a: m');
  });

  test('refuse an answer that the contract does not know', async () => {
    const { client } = await serving((_request, response) => void response.end('{"data":7}'));
    await expect(client.jobs()).rejects.toThrow(/GET \/v1\/jobs is not what this version expects/);
  });
});

describe('event streams', () => {
  const streamOf = (chunks: readonly (string | Uint8Array)[]): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks)
          controller.enqueue(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk);
        controller.close();
      },
    });
  const read = async (chunks: readonly (string | Uint8Array)[]) => {
    const messages = [];
    for await (const message of readEventStream(streamOf(chunks))) messages.push(message);
    return messages;
  };

  test('fields, comments, several data lines, every line end, cut anywhere', async () => {
    const text =
      ': hello\n\nid: 1\nevent: step\ndata: {"a":\ndata: "é"}\n\r\nid:2\r\ndata:x\r\n\r\nnothing: 1\n\ndata\n\nid: 3\ndata: cut off';
    const expected = [
      { id: '1', event: 'step', data: '{"a":\n"é"}' },
      { id: '2', event: 'message', data: 'x' },
      { id: '2', event: 'message', data: '' },
    ];
    expect(await read([text])).toEqual(expected);
    expect(await read([...new TextEncoder().encode(text)].map((byte) => Uint8Array.of(byte)))).toEqual(
      expected,
    );
  });

  test.each([
    ['a line', 'x'.repeat(1 << 23)],
    ['an event', `data: ${'x'.repeat(1 << 20)}\n`],
  ])('%s without an end is an error, not memory', async (_, text) => {
    await expect(read(new Array<string>(17).fill(text))).rejects.toThrow('an event has more than');
  });

  test('a job that is not there ends the following at once; a service that is away does not', async () => {
    const event = {
      seq: 2,
      attempt: 0,
      created_at: '2026-01-01T00:00:00Z',
      body: { type: 'state', from: 'queued', to: 'cancelled' },
    };
    const said = `id: 2\nevent: state\ndata: ${JSON.stringify(event)}\n\n`;
    const { client, calls } = await serving(
      cut,
      problem(503, 'database_unavailable'),
      slowDown('0'),
      (_request, response) => void response.end(said),
    );
    const seqs = [];
    for await (const { seq } of client.events('job_x', { after: 1 })) seqs.push(seq);
    expect(seqs).toEqual([2]);
    expect(calls.map((call) => call.headers['last-event-id'])).toEqual(['1', '1', '1', '1']);

    server?.close();
    const missing = await serving(problem(404, 'not_found'));
    await expect(missing.client.events('job_x').next()).rejects.toThrow('not_found (404)');
  });
});

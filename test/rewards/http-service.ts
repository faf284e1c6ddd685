// A real HTTP server on loopback that a test scripts, and that keeps what it was asked.
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from 'vitest';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers one request; `count` is 1 for the first of the test. */
export type Answer = (request: Received, response: ServerResponse, count: number) => void | Promise<void>;

export interface HttpService {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  answer: Answer;
}

/** Up for the whole file; each test begins with nothing received. */
export function useHttpService(): HttpService {
  const service = { received: [] as Received[], url: '', port: 0, answer: (() => undefined) as Answer };
  const server = createServer((request, response) => void serve(service, request, response));
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    service.port = (server.address() as AddressInfo).port;
    service.url = `http://127.0.0.1:${service.port}`;
  });
  beforeEach(() => void (service.received.length = 0));
  afterAll(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return service;
}

async function serve(
  service: HttpService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part as string;
  const received = { path: request.url ?? '', headers: request.headers, body };
  service.received.push(received);
  await service.answer(received, response, service.received.length);
}

export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(value));

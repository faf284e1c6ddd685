// One request over a real connection, as it is: headers in their order, the same name twice, bytes of any kind.
import type { Agent } from 'node:http';
import { request as httpRequest } from 'node:http';
import type { FuzzRequest } from './request.ts';

export interface FuzzAnswer {
  readonly status: number;
  readonly media: string;
  readonly headers: string;
  /** The first bytes of a stream that does not end by itself. */
  readonly text: string;
  readonly ms: number;
}

const streamMs = 150;

/** @throws Error where no answer has begun, or a whole one has not ended, within `limitMs`. */
export function send(url: string, agent: Agent, given: FuzzRequest, limitMs: number): Promise<FuzzAnswer> {
  const started = performance.now();
  const headers = given.headers.flatMap(([name, value]) => [name, value]);
  if (given.body !== undefined) headers.push('content-length', String(given.body.byteLength));
  headers.push('host', new URL(url).host);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}${given.path}`, { method: given.method, agent, headers });
    const late = setTimeout(() => sent.destroy(new Error(`no answer within ${limitMs} ms`)), limitMs);
    const fail = (error: Error): void => {
      clearTimeout(late);
      reject(error);
    };
    sent.once('error', fail);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      const media = String(response.headers['content-type'] ?? '').split(';')[0]!;
      const end = (): void => {
        clearTimeout(late);
        resolve({
          status: response.statusCode!,
          media,
          headers: JSON.stringify(response.rawHeaders),
          text: Buffer.concat(chunks).toString('utf8'),
          ms: performance.now() - started,
        });
      };
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', end);
      response.once('error', fail);
      if (media === 'text/event-stream')
        setTimeout(() => {
          response.removeAllListeners('error').on('error', () => undefined);
          response.destroy();
          end();
        }, streamMs);
    });
    sent.end(given.body);
  });
}

// Stands before the API's processes as a load balancer does: each request goes to the next of them. It keeps count of every 5xx that
// a client gets to see, and can lose answers on their way back, so that callers do not know what became of their call.
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { problem } from '../../api/contract/problem.ts';

export interface Balancer {
  readonly url: string;
  /** Addresses of the API's processes. */
  upstreams: readonly string[];
  /** Asked for each answer: true loses it. */
  losesAnswer: () => boolean;
  readonly requests: number;
  /** `METHOD path 5xx code`, and how often. */
  readonly failures: ReadonlyMap<string, number>;
  readonly lost: number;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const failures = new Map<string, number>();
  let turn = 0;
  const balancer = {
    url: '',
    upstreams: [] as readonly string[],
    losesAnswer: () => false,
    requests: 0,
    lost: 0,
  };
  const server = createServer((req, res) => {
    balancer.requests += 1;
    void pass(req, res).catch(() => res.destroy());
  });
  const pass = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await Array.fromAsync(req as AsyncIterable<Buffer>));
    const first = turn++;
    const answer = await ask(req, res, body, balancer.upstreams[first % balancer.upstreams.length]!).catch(
      (error: NodeJS.ErrnoException) => {
        // Nothing listens there: nothing has been asked yet, so the other one may be.
        if (error.code !== 'ECONNREFUSED') throw error;
        return ask(req, res, body, balancer.upstreams[(first + 1) % balancer.upstreams.length]!);
      },
    );
    const status = answer.statusCode ?? 502;
    if (status >= 500) return await passFailure(req, res, answer, status);
    if (balancer.losesAnswer()) {
      balancer.lost += 1;
      answer.resume();
      res.destroy();
      return;
    }
    res.writeHead(status, answer.headers);
    answer.on('error', () => res.destroy()).pipe(res);
    answer.once('close', () => answer.complete || res.destroy());
  };
  const passFailure = async (
    req: IncomingMessage,
    res: ServerResponse,
    answer: IncomingMessage,
    status: number,
  ): Promise<void> => {
    const text = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>));
    const path = (req.url ?? '').replace(/\?.*/, '').replace(/\b(job|ckpt|ds|err|run)_\w+/g, '$1_…');
    const name = `${req.method} ${path} ${status} ${codeOf(text.toString())}`;
    failures.set(name, (failures.get(name) ?? 0) + 1);
    res.writeHead(status, answer.headers).end(text);
  };
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  balancer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(balancer, {
    failures,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

async function ask(
  { method, url, headers }: IncomingMessage,
  res: ServerResponse,
  body: Buffer,
  upstream: string,
): Promise<IncomingMessage> {
  const { 'transfer-encoding': _, expect: __, ...kept } = headers;
  const onward = request(`${upstream}${url}`, {
    method,
    headers: { ...kept, ...(body.length > 0 && { 'content-length': body.length }) },
    agent: false,
  });
  // A client that has gone away asks for nothing any more.
  res.once('close', () => onward.destroy());
  onward.end(body);
  const [answer] = (await once(onward, 'response')) as [IncomingMessage];
  onward.on('error', () => answer.destroy());
  return answer;
}

function codeOf(text: string): string {
  try {
    return problem.safeParse(JSON.parse(text)).data?.code ?? 'no problem document';
  } catch {
    return 'no problem document';
  }
}

// Stands between a client and a real S3 server and spoils single answers, as networks and servers
// do. Requests keep their Host header, so their signatures stay valid.
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Sends the request on and gives the server's answer, its body unread. */
  forward(): Promise<IncomingMessage>;
  /** Passes the server's answer on as it is. */
  answer(from: IncomingMessage): void;
}

/** Handles an exchange and says true, or leaves it alone and says false. */
export type Fault = (exchange: Exchange) => Promise<boolean> | boolean;

export interface FaultProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** The fault in force. */
  fault: Fault;
}

export async function startFaultProxy(serverUrl: string): Promise<FaultProxy> {
  const proxy = { fault: (() => false) as Fault };
  const server = createServer((req, res) => {
    void pass(serverUrl, req, res, (exchange) => proxy.fault(exchange)).catch(() => res.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, {
    endpoint: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

async function pass(
  serverUrl: string,
  req: IncomingMessage,
  res: ServerResponse,
  fault: Fault,
): Promise<void> {
  const forward = async () => {
    const headers = { ...req.headers };
    delete headers.expect; // answered by this server already
    const onward = request(serverUrl, { path: req.url, method: req.method, headers });
    req.pipe(onward);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    return answer;
  };
  const answer = (from: IncomingMessage) => {
    res.writeHead(from.statusCode ?? 502, from.headers);
    from.pipe(res);
  };
  if (await fault({ request: req, response: res, forward, answer })) return;
  answer(await forward());
}

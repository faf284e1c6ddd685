// What goes wrong between the service and its object store: a fault of the proxy for each kind.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Exchange, Fault } from '../store/fault-proxy.ts';
import type { StoreFault } from './schedule.ts';

const slowMs = 1_500;

const carriesObject = ({ request }: Exchange): boolean =>
  request.method === 'PUT' || (request.method === 'POST' && request.url?.includes('uploadId') === true);

async function answer500({ request, response }: Exchange): Promise<boolean> {
  request.resume();
  await once(request, 'end');
  const body =
    '<?xml version="1.0" encoding="UTF-8"?><Error><Code>InternalError</Code><Message>try again</Message></Error>';
  response.writeHead(500, { 'content-type': 'application/xml' }).end(body);
  return true;
}

/** The first half of what should come arrives; the connection ends. */
async function cutDownload(exchange: Exchange): Promise<boolean> {
  const from = await exchange.forward();
  const whole = Buffer.concat(await Array.fromAsync(from as AsyncIterable<Buffer>));
  exchange.response.writeHead(from.statusCode ?? 502, from.headers);
  exchange.response.write(whole.subarray(0, Math.floor(whole.length / 2)), () => exchange.response.destroy());
  return true;
}

/** Obeyed by the server, but the client never hears of it. */
async function loseAnswer(exchange: Exchange): Promise<boolean> {
  const from = await exchange.forward();
  from.resume();
  await once(from, 'end');
  exchange.request.socket.destroy();
  return true;
}

/** Half of the body is taken, then the connection ends. */
async function cutUpload({ request }: Exchange): Promise<boolean> {
  const half = Number(request.headers['content-length'] ?? 0) / 2;
  let taken = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    taken += chunk.length;
    if (taken >= half) break;
  }
  request.socket.destroy();
  return true;
}

/** `every`: of the requests that it is about, each so-manieth fails, so that a retry has a chance. */
const sometimes = (fault: Fault, is: (exchange: Exchange) => boolean): Fault => {
  let seen = 0;
  return (exchange) => (is(exchange) && seen++ % 2 === 0 ? fault(exchange) : false);
};

export function storeFault(kind: StoreFault): Fault {
  switch (kind) {
    case 'store_down':
      return ({ request }) => Boolean(request.socket.destroy());
    case 'store_slow':
      return async () => {
        await delay(slowMs);
        return false;
      };
    case 'store_500':
      return answer500;
    case 'uploads_cut':
      return sometimes(cutUpload, carriesObject);
    case 'downloads_cut':
      return sometimes(cutDownload, ({ request }) => request.method === 'GET');
    case 'store_mute':
      return sometimes(loseAnswer, carriesObject);
  }
}

// Requests to addresses that specs and webhooks name, behind one guard: http(s) only, the host looked up once and every address that it
// has checked, the connection made to just those addresses (a second look-up could answer differently), no redirects, an
// answer of bounded size within bounded time. It reads no proxy variables: a proxy would connect where nothing checks.
import { lookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import http from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { addressFault, hostKind } from './contract/outgoing.ts';
import { addressKind } from './contract/address.ts';

/** No answer that counts. The message names the address without its query, and never a secret. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  /** May the same request succeed later? */
  readonly again: boolean;
  constructor(message: string, again: boolean, options?: ErrorOptions) {
    super(message, options);
    this.again = again;
  }
}

export interface OutgoingRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  /** Of the answer: a longer one is none, or cut there. */
  readonly maxBytes: number;
  readonly cut?: boolean;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface OutgoingOptions {
  readonly allowPrivate: boolean;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
}

/** An address as messages show it: a query may hold what nobody should read. */
export const shownUrl = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
};

/** A connection that nobody uses is closed: each evaluation makes its graders anew, and nothing ends them. */
const idleMs = 15_000;

export class Outgoing {
  readonly #allowPrivate: boolean;
  readonly #lookup: LookupFunction;
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true, timeout: idleMs }),
    'https:': new https.Agent({ keepAlive: true, timeout: idleMs }),
  };

  constructor({ allowPrivate, resolve = lookup }: OutgoingOptions) {
    this.#allowPrivate = allowPrivate;
    this.#lookup = guardedLookup(resolve, allowPrivate);
  }

  /** Whatever the status is. @throws Unreachable. */
  async post(url: string, request: OutgoingRequest): Promise<OutgoingAnswer> {
    const target = new URL(url);
    // Node looks nothing up where the host is an address already.
    const fault = addressFault(hostKind(target), this.#allowPrivate);
    if (fault !== undefined) throw new Unreachable(`${shownUrl(url)}: ${target.hostname} ${fault}`, false);
    const signal = AbortSignal.timeout(request.timeoutMs);
    try {
      const response = await this.#send(target, request, signal);
      const body = await readLimited(response, request);
      return { status: response.statusCode ?? 0, headers: response.headers, body };
    } catch (cause) {
      throw explained(shownUrl(url), cause as NodeJS.ErrnoException, signal, request.timeoutMs);
    }
  }

  #send(target: URL, { headers, body }: OutgoingRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const protocol = target.protocol === 'https:' ? 'https:' : 'http:';
    const { request } = protocol === 'https:' ? https : http;
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      agent: this.#agents[protocol],
      lookup: this.#lookup,
      signal,
    };
    return new Promise((resolve, reject) => {
      request(target, options, resolve).on('error', reject).end(body);
    });
  }
}

class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

/** Hands on what was resolved only where every address of it may be called. */
function guardedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
  return (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const refused = addresses?.find(
        ({ address }) => addressFault(addressKind(address) ?? 'forbidden', allowPrivate) !== undefined,
      );
      const [first] = addresses ?? [];
      if (error !== null) callback(error, []);
      else if (first === undefined) callback(new Error(`${hostname} has no address`), []);
      else if (refused !== undefined)
        callback(new RefusedAddress(refusal(refused.address, allowPrivate)), []);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
}

const refusal = (address: string, allowPrivate: boolean): string =>
  `resolves to ${address}, which ${addressFault(addressKind(address) ?? 'forbidden', allowPrivate)}`;

async function readLimited(
  response: IncomingMessage,
  { maxBytes, cut = false }: Pick<OutgoingRequest, 'maxBytes' | 'cut'>,
): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    // Leaving the loop destroys the response and its connection.
    if (bytes > maxBytes && !cut) throw new AnswerTooLong(`its answer is longer than ${maxBytes} bytes`);
    parts.push(part);
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxBytes).toString('utf8');
}

class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

function explained(
  where: string,
  cause: NodeJS.ErrnoException,
  signal: AbortSignal,
  timeoutMs: number,
): Unreachable {
  if (signal.aborted) return new Unreachable(`${where}: no answer within ${timeoutMs} ms`, true, { cause });
  const final = cause instanceof RefusedAddress || cause instanceof AnswerTooLong;
  // The error of several attempted addresses has a code and no message.
  return new Unreachable(`${where}: ${cause.message || cause.code || cause.name}`, !final, { cause });
}

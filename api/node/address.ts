// Where a request comes from: the other end of the connection, or what the proxy there says. The header must be one that the
// proxy sets itself: of a list the last entry counts, which is the one that it added.
import type { IncomingMessage } from 'node:http';
import type { Services } from '../context.ts';

export function addressOf(header: string | undefined): Services['addressOf'] {
  return (request, env) => {
    const told = header === undefined ? undefined : request.headers.get(header)?.split(',').at(-1)?.trim();
    return told || (env as { incoming?: IncomingMessage }).incoming?.socket.remoteAddress;
  };
}

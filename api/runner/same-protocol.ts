// A runner of another version may send another shape: it must hear of the version, not of the shape.
import type { MiddlewareHandler } from 'hono';
import type { Env } from '../context.ts';
import { PROTOCOL_VERSION } from '../contract/runner.ts';
import { ProblemError } from '../problem.ts';

/** @throws ProblemError protocol_mismatch. */
export const sameProtocol: MiddlewareHandler<Env> = async (c, next) => {
  const body: unknown = await c.req.json();
  const protocol =
    typeof body === 'object' && body !== null && 'protocol' in body ? body.protocol : undefined;
  if (typeof protocol === 'number' && protocol !== PROTOCOL_VERSION)
    throw new ProblemError(
      'protocol_mismatch',
      `the runner speaks protocol ${protocol}, this service speaks ${PROTOCOL_VERSION}: run the same version of both`,
      { headers: { upgrade: `millrace-runner/${PROTOCOL_VERSION}` } },
    );
  await next();
};

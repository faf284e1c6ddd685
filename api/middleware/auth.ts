// Who asks: a bearer key, known by its SHA-256 only. The key decides the project, and its scopes what may be done.
// Keys are compared as hashes, by the database's index: how long that takes says nothing about a key.
import type { MiddlewareHandler } from 'hono';
import { findKey } from '../../db/keys.ts';
import type { Env, Services } from '../context.ts';
import type { Scope } from '../contract/keys.ts';
import { ProblemError } from '../problem.ts';

export interface Caller {
  readonly id: string;
  readonly projectId: string;
  readonly scopes: readonly string[];
}

/** @throws ProblemError unauthorized. */
export function authenticate(services: Services): MiddlewareHandler<Env> {
  return async (c, next) => {
    const key = /^Bearer +([\x21-\x7e]{1,500})$/i.exec(c.req.header('authorization') ?? '')?.[1];
    if (key === undefined) throw unauthorized('send the header "authorization: Bearer KEY"');
    const caller = await findKey(services.db, key);
    if (caller === undefined) throw unauthorized('the key is not known, or was revoked');
    c.set('caller', caller);
    await next();
  };
}

/** @throws ProblemError forbidden, unless the key has one of the scopes or is an admin's. */
export function allow(...scopes: readonly Scope[]): MiddlewareHandler<Env> {
  return async (c, next) => {
    const has = c.get('caller').scopes;
    if (!has.includes('admin') && !scopes.some((scope) => has.includes(scope)))
      throw new ProblemError(
        'forbidden',
        `this needs a key with the scope ${scopes.join(' or ')}; yours has ${has.join(', ')}`,
      );
    await next();
  };
}

const unauthorized = (detail: string): ProblemError =>
  new ProblemError('unauthorized', detail, { headers: { 'www-authenticate': 'Bearer' } });

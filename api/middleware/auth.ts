// Who asks: a bearer key, known by its SHA-256 only. The key decides the project, and its scopes what may be done.
// Keys are found as hashes, by the database's index. How long that takes depends on the hash alone, and nobody can steer
// what a hash begins with towards that of a key of 160 random bits: no comparison in constant time is needed.
import type { MiddlewareHandler } from 'hono';
import { findKey, hashKey } from '../../db/keys.ts';
import { noteUse } from '../../db/keys/use.ts';
import type { Env, Services } from '../context.ts';
import type { Scope } from '../contract/keys.ts';
import { scopes } from '../contract/keys.ts';
import { createRefusals } from '../limits/refusals.ts';
import { ProblemError } from '../problem.ts';

export interface Caller {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Null: until it is revoked. */
  readonly expiresAt: Date | null;
}

/** @throws ProblemError unauthorized, rate_limited. */
export function authenticate(services: Services): MiddlewareHandler<Env> {
  const refusals = createRefusals(services);
  return async (c, next) => {
    const address = services.addressOf(c.req.raw, c.env);
    const key = /^Bearer +([\x21-\x7e]{1,500})$/i.exec(c.req.header('authorization') ?? '')?.[1];
    const hash = key === undefined ? undefined : hashKey(key);
    refusals.check(address, hash);
    if (key === undefined || hash === undefined)
      throw refusals.note(address, hash, unauthorized('send the header "authorization: Bearer KEY"'));
    const known = await findKey(services.db, hash);
    if (known === undefined)
      throw refusals.note(
        address,
        hash,
        unauthorized('the key is not known, was revoked or has expired: ask an admin of the project for one'),
      );
    refusals.trust(hash);
    const { isUseStale, ...caller } = known;
    if (isUseStale) await noteUse(services.db, caller.id);
    c.set('caller', caller);
    await next();
  };
}

/** Stands before a route and says who may call it: `admits` is what access.ts makes the table of. */
export type Rule = MiddlewareHandler<Env> & { readonly admits: readonly Scope[] };

/** The first middleware of every route. @throws ProblemError forbidden, unless the key has one of the scopes. */
export function allow(...declared: readonly Scope[]): Rule {
  const admits = admitted(declared);
  const rule: MiddlewareHandler<Env> = async (c, next) => {
    const has = c.get('caller').scopes;
    if (!admits.some((scope) => has.includes(scope)))
      throw new ProblemError(
        'forbidden',
        `this needs a key with the scope ${declared.join(' or ')}; yours has ${has.join(', ')}`,
      );
    await next();
  };
  return Object.assign(rule, { admits });
}

/** An admin may what any key of the project may, but not what is the operator's alone; a shared runner what a runner may. */
function admitted(declared: readonly Scope[]): Scope[] {
  const all = new Set(declared);
  if (declared.some((scope) => scope !== 'operator')) all.add('admin');
  if (all.has('runner')) all.add('shared_runner');
  return scopes.filter((scope) => all.has(scope));
}

const unauthorized = (detail: string): ProblemError =>
  new ProblemError('unauthorized', detail, { headers: { 'www-authenticate': 'Bearer' } });

// What a key may do to keys: none gives more than it has, no scope and no day. So whoever holds a key that is limited, also
// one that was rotated and is in its grace, cannot make or take one that is not.
import type { KeyRow } from '../../db/keys/table.ts';
import type { Scope } from '../contract/keys.ts';
import type { Caller } from '../middleware/auth.ts';
import { ProblemError } from '../problem.ts';
import { isOperator } from '../projects/find.ts';

const ofAdmin: readonly Scope[] = ['admin', 'submit', 'read', 'runner'];

/** @throws ProblemError forbidden. */
export function mayGive(caller: Caller, scopes: readonly Scope[], expiresAt: Date | null): void {
  checkScopes(caller, scopes, 'make a key with');
  if (outlives(expiresAt, caller))
    throw new ProblemError(
      'forbidden',
      `your key ends at ${caller.expiresAt?.toISOString()}: one that it makes cannot live longer`,
    );
}

/** @throws ProblemError forbidden. */
export const mayRevoke = (caller: Caller, key: KeyRow): void =>
  checkScopes(caller, key.scopes, 'end a key with');

/** Whoever rotates a key learns its new secret. @throws ProblemError forbidden. */
export function mayRotate(caller: Caller, key: KeyRow): void {
  checkScopes(caller, key.scopes, 'rotate a key with');
  if (caller.id !== key.id && outlives(key.expiresAt, caller))
    throw new ProblemError(
      'forbidden',
      `your key ends at ${caller.expiresAt?.toISOString()}: it cannot rotate one that lives longer`,
    );
}

function checkScopes(caller: Caller, scopes: readonly Scope[], toDo: string): void {
  const beyond = isOperator(caller) ? undefined : scopes.find((scope) => !ofAdmin.includes(scope));
  if (beyond !== undefined)
    throw new ProblemError('forbidden', `only an operator may ${toDo} the scope ${beyond}`);
}

const outlives = (expiresAt: Date | null, caller: Caller): boolean =>
  caller.expiresAt !== null && (expiresAt === null || expiresAt > caller.expiresAt);

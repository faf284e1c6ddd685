// Which project a call is about. An operator may name any; for everybody else a project that is not theirs looks exactly
// like one that does not exist.
import type { Database } from '../../db/connect.ts';
import { findProject } from '../../db/projects.ts';
import type { Caller } from '../middleware/auth.ts';
import { notFound } from '../problem.ts';

export const isOperator = ({ scopes }: Caller): boolean => scopes.includes('operator');

/** Id of the named project. @throws ProblemError not_found. */
export async function theProject(db: Database, caller: Caller, named: string): Promise<string> {
  const row = await findProject(db, named);
  if (row === undefined || (row.id !== caller.projectId && !isOperator(caller)))
    throw notFound('project', named);
  return row.id;
}

/** What a list shows: the named project, else the caller's, else (undefined), for an operator, all. */
export async function listedProject(
  db: Database,
  caller: Caller,
  named: string | undefined,
): Promise<string | undefined> {
  if (named !== undefined) return theProject(db, caller, named);
  return isOperator(caller) ? undefined : caller.projectId;
}

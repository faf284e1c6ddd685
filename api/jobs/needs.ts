// What a posted job needs: jobs of its project that have succeeded, or may yet.
import type { Database } from '../../db/connect.ts';
import { lockNeeds } from '../../db/jobs/needs.ts';
import type { Issue } from '../contract/issues.ts';
import { isTerminal } from '../contract/job.ts';

export interface ReachedNeeds {
  readonly unmet: readonly string[];
  readonly issues: readonly Issue[];
}

/** Locks them until the transaction ends. */
export async function reachNeeds(
  tx: Database,
  projectId: string,
  needs: readonly string[] = [],
): Promise<ReachedNeeds> {
  const rows = await lockNeeds(tx, projectId, needs);
  const found = new Map(rows.map(({ id, state }) => [id, state]));
  const issues = needs.flatMap((id, index): Issue[] => {
    const state = found.get(id);
    const pointer = `/needs/${index}`;
    if (state === undefined) return [{ pointer, message: `there is no job ${id}` }];
    if (isTerminal(state) && state !== 'succeeded')
      return [{ pointer, message: `job ${id} is ${state}: retry it, and name the new job` }];
    return [];
  });
  return { unmet: rows.filter(({ state }) => !isTerminal(state)).map(({ id }) => id), issues };
}

// Whether anybody can do an errand now, and what to say where nobody can.
import type { Database } from '../../db/connect.ts';
import { hasGrader } from '../../db/runners.ts';
import type { Grader } from '../contract/grader.ts';
import { languagesOf } from '../contract/proof.ts';

/** What is missing and what to do; undefined where a runner is alive that grades with this. */
export async function lacksRunner(
  db: Database,
  projectId: string,
  grader: Grader,
  leaseMs: number,
): Promise<string | undefined> {
  const languages = languagesOf([grader]);
  if (await hasGrader(db, projectId, languages, leaseMs)) return undefined;
  const having = languages.length === 0 ? '' : ` with a back end for ${languages.join(', ')}`;
  return (
    `no runner${having} is alive in this project: start one (millrace runner)` +
    (languages.length === 0 ? '' : '; GET /v1/runners says which languages each has, and why it lacks others')
  );
}

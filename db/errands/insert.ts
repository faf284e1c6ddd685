// A new errand: the row is the queue entry.
import type { ErrandPayload } from '../../api/contract/errand.ts';
import { languagesOf } from '../../api/contract/proof.ts';
import type { Database } from '../connect.ts';
import { newId } from '../ids.ts';
import { errands } from './table.ts';

/** Its id. What the payload's grader needs of a runner is kept beside it. */
export async function insertErrand(db: Database, projectId: string, payload: ErrandPayload): Promise<string> {
  const id = newId('err');
  await db.insert(errands).values({
    id,
    projectId,
    kind: payload.kind,
    payload,
    languages: languagesOf([payload.grader]),
    datasetId: payload.kind === 'validate' ? payload.dataset.id : null,
  });
  return id;
}

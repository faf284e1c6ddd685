// What a posted grader refers to beyond its own text: addresses that this service must not send its runners to, and the
// checkpoint of a reward model.
import { getCheckpoint } from '../../db/checkpoints/get.ts';
import type { Database } from '../../db/connect.ts';
import { beginProblem } from '../contract/checkpoint.ts';
import type { GraderReference } from '../contract/expand.ts';
import type { Issue } from '../contract/issues.ts';
import { addressFault, hostKind } from '../contract/outgoing.ts';

/** For one grader, `pointer` to it. Names are looked up by the runner, when it calls. */
export async function graderIssues(
  db: Database,
  projectId: string,
  { pointer, grader }: GraderReference,
  allowPrivateAddresses: boolean,
): Promise<Issue[]> {
  switch (grader.type) {
    case 'remote':
    case 'judge':
      return addressIssue(`${pointer}/url`, grader.url, allowPrivateAddresses);
    case 'swe':
      return grader.judge === undefined
        ? []
        : addressIssue(`${pointer}/judge/url`, grader.judge.url, allowPrivateAddresses);
    case 'preference':
      return await rewardModelIssue(db, projectId, `${pointer}/model`, grader.model);
    case 'exact':
    case 'prefix':
    case 'math':
    case 'instructions':
    case 'code':
      return [];
  }
}

function addressIssue(pointer: string, text: string, allowPrivate: boolean): Issue[] {
  const url = new URL(text);
  const fault = addressFault(hostKind(url), allowPrivate);
  return fault === undefined ? [] : [{ pointer, message: `${url.hostname} ${fault}` }];
}

/** Whether its head is a scalar one, the runner finds in its config.json. */
async function rewardModelIssue(
  db: Database,
  projectId: string,
  pointer: string,
  id: string,
): Promise<Issue[]> {
  const row = await getCheckpoint(db, projectId, id);
  if (row === undefined) return [{ pointer, message: `there is no checkpoint ${id}` }];
  const problem = beginProblem(row.files.map(({ name }) => name));
  return problem === undefined ? [] : [{ pointer, message: `checkpoint ${id} ${problem}` }];
}

// Checkpoints that a spec scores with: whether each is there, is whole, and has a scalar head, so far as its config.json can be read
// from the store. What cannot be read the runner finds out.
import { getCheckpoint } from '../../db/checkpoints/get.ts';
import type { Database } from '../../db/connect.ts';
import type { Services } from '../context.ts';
import { beginProblem } from '../contract/checkpoint.ts';
import type { RewardModelReference } from '../contract/expand.ts';
import { scoringFault } from '../contract/heads.ts';
import type { Issue } from '../contract/issues.ts';
import type { ModelSizes } from '../contract/model-shape.ts';
import { modelSizes } from '../contract/model-shape.ts';
import { readConfig } from './read-config.ts';

export interface ReachedRewardModels {
  /** Of those that are reward models for certain, by checkpoint. */
  readonly sizes: ReadonlyMap<string, ModelSizes>;
  /** Why the others are none, where that is known. */
  readonly faults: ReadonlyMap<string, string>;
}

/** Reads the store: not for within a transaction. */
export async function reachRewardModels(
  { db, store }: Pick<Services, 'db' | 'store'>,
  projectId: string,
  references: readonly RewardModelReference[],
): Promise<ReachedRewardModels> {
  const sizes = new Map<string, ModelSizes>();
  const faults = new Map<string, string>();
  for (const id of new Set(references.map(({ model }) => model))) {
    const row = await getCheckpoint(db, projectId, id);
    const config = row === undefined ? undefined : await readConfig(store, row.prefix);
    if (config === undefined) continue;
    const parsed = modelSizes.safeParse(config);
    if (!parsed.success) faults.set(id, 'names no model of ours in its config.json');
    else {
      const fault = scoringFault(parsed.data);
      if (fault === undefined) sizes.set(id, parsed.data);
      else faults.set(id, fault);
    }
  }
  return { sizes, faults };
}

export async function rewardModelIssues(
  db: Database,
  projectId: string,
  { pointer, model: id }: RewardModelReference,
  { faults }: ReachedRewardModels,
): Promise<Issue[]> {
  const row = await getCheckpoint(db, projectId, id);
  if (row === undefined) return [{ pointer, message: `there is no checkpoint ${id}` }];
  const fault = beginProblem(row.files.map(({ name }) => name)) ?? faults.get(id);
  return fault === undefined ? [] : [{ pointer, message: `checkpoint ${id} ${fault}` }];
}

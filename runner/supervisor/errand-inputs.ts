// Brings what an errand needs to its scratch: the rows of a dataset, the reward model of a grader. Nothing is fetched twice.
import { join } from 'node:path';
import type { ErrandClaim } from '../../api/contract/errand.ts';
import type { ClaimedCheckpoint } from '../../api/contract/runner.ts';
import type { TaskKind } from '../../api/contract/task.ts';
import type { FetchedRewardModel, GraderWork } from '../ipc.ts';
import type { GraderProcess } from './grader-process.ts';
import { TransferFailed } from './uploader-process.ts';
import type { UploaderProcess } from './uploader-process.ts';

/** The checkpoint that a grader names was there when the errand was posted, and is no more. */
export class RewardModelGone extends Error {
  override readonly name = 'RewardModelGone';
}

export interface ErrandInputs {
  readonly claim: ErrandClaim;
  readonly grader: Pick<GraderProcess, 'rewardModel'>;
  readonly uploader: Pick<UploaderProcess, 'transfer'>;
  readonly scratch: string;
}

/** Throws TransferFailed, RewardModelGone. */
export async function prepareErrand(inputs: ErrandInputs): Promise<GraderWork> {
  const { payload } = inputs.claim;
  const { grader } = payload;
  if (payload.kind === 'grade')
    return grader.type === 'preference'
      ? { ...payload, rewardModel: await rewardModel(grader.model, inputs) }
      : payload;
  const { key, size, sha256, kind } = payload.dataset;
  const file = join(inputs.scratch, 'rows.jsonl');
  await inputs.uploader.transfer({ kind: 'fetch_file', key, size, sha256, file });
  return { kind: 'validate', grader, rows: kind as TaskKind, file };
}

async function rewardModel(
  id: string,
  { claim: { reward_model }, grader, uploader, scratch }: ErrandInputs,
): Promise<FetchedRewardModel> {
  if (reward_model === null)
    throw new RewardModelGone(`reward model ${id}: there is no such checkpoint any more`);
  const directory = join(scratch, 'reward-model');
  if (grader.rewardModel !== id) await fetchCheckpoint(uploader, reward_model, directory);
  return { id, directory };
}

async function fetchCheckpoint(
  uploader: ErrandInputs['uploader'],
  checkpoint: ClaimedCheckpoint,
  dir: string,
): Promise<void> {
  try {
    await uploader.transfer({ kind: 'fetch_checkpoint', checkpoint, dir });
  } catch (cause) {
    if (!(cause instanceof TransferFailed) || cause.code !== 'missing') throw cause;
    throw new RewardModelGone(
      `reward model ${checkpoint.id}: its files are not in this runner's store: ${cause.message}`,
      { cause },
    );
  }
}

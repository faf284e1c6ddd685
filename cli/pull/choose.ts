// Which checkpoint `pull` means: one by its id, or a job's last.
import type { Client } from '../../api/client.ts';
import type { Checkpoint } from '../../api/contract/checkpoint.ts';
import { checkpointId, jobId } from '../../api/contract/names.ts';
import { UserError } from '../user-error.ts';

/** @throws UserError where the job has none yet, ApiError where there is no such thing. */
export async function chooseCheckpoint(client: Client, id: string): Promise<Checkpoint> {
  if (checkpointId.safeParse(id).success) return client.checkpoint(id);
  if (!jobId.safeParse(id).success)
    throw new UserError(`${id} is neither a job (job_…) nor a checkpoint (ckpt_…): millrace jobs lists jobs`);
  const { last_checkpoint, state } = await client.job(id);
  if (last_checkpoint === null) throw new UserError(`${id} (${state}) has no checkpoint yet`);
  return client.checkpoint(last_checkpoint);
}

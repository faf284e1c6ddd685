// From what the user names to what an engine on this machine can open: a checkpoint is pulled first, everything else
// (a directory, a file: or s3: URI) is the engine's own to find.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beginProblem } from '../../api/contract/checkpoint.ts';
import { checkpointId, jobId } from '../../api/contract/names.ts';
import { pullShowing } from '../commands/pull.ts';
import type { Connection } from '../connection.ts';
import { chooseCheckpoint } from '../pull/choose.ts';
import { screenOn } from '../screen.ts';
import { UserError } from '../user-error.ts';

export interface LocalModel {
  /** A path or a URI. */
  readonly model: string;
  /** Where it is a checkpoint of the service. */
  readonly checkpoint?: string;
}

/** `models`: where pulled ones are kept. Only model files are pulled, not what a trainer needs to resume. */
export async function localModel(
  target: string,
  models: string,
  connect: () => Connection,
  signal: AbortSignal,
): Promise<LocalModel> {
  const isOurs = checkpointId.safeParse(target).success || jobId.safeParse(target).success;
  if (!isOurs && /^(ckpt|job)_[^/]*$/.test(target) && !existsSync(target))
    throw new UserError(`${target} is no id of a checkpoint or job (an id is longer), and no directory here`);
  if (!isOurs) return { model: target };
  const connection = connect();
  const checkpoint = await chooseCheckpoint(connection.client, target);
  const problem = beginProblem(checkpoint.files.map(({ name }) => name));
  if (problem !== undefined) throw new UserError(`checkpoint ${checkpoint.id} ${problem}`);
  const files = checkpoint.files.filter(({ name }) => !name.includes('/'));
  const directory = join(models, checkpoint.id);
  await pullShowing(connection, { ...checkpoint, files }, directory, screenOn(process.stderr), signal);
  return { model: directory, checkpoint: checkpoint.id };
}

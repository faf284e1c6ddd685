// What can be known of a spec's model when the job is posted: the sizes in its config.json, where that file is in our own
// store (a checkpoint, or a directory below the store's URL) or the spec itself says the shape. Never the weights. What
// cannot be reached (a path on the runner, another bucket, a store that is away) stays unknown: the runner checks it.
import { z } from 'zod';
import { getCheckpoint } from '../../db/checkpoints/get.ts';
import type { Services } from '../context.ts';
import { beginningFault } from '../contract/heads.ts';
import { ownSizes } from '../contract/memory/spec-need.ts';
import type { ModelSizes } from '../contract/model-shape.ts';
import { modelSizes } from '../contract/model-shape.ts';
import type { JobSpec } from '../contract/spec.ts';
import { ProblemError } from '../problem.ts';
import { readConfig } from './read-config.ts';
import { keyInStore } from './store-key.ts';

export interface ReachedModel {
  readonly sizes?: ModelSizes | undefined;
  /** Known without the sizes where only the tokenizer is not. */
  readonly positions?: number | undefined;
}

/**
 * @throws ProblemError invalid_spec where config.json was reached and no model of ours could be read from it, or one that the job
 * cannot begin with, and where a directory is named that is another's.
 */
export async function reachModel(
  { db, store }: Pick<Services, 'db' | 'store'>,
  projectId: string,
  spec: JobSpec,
): Promise<ReachedModel> {
  const { init } = spec.model;
  const ownKey = async (uri: string, pointer: string): Promise<string | undefined> => {
    const key = await keyInStore(store.describe(), uri);
    if (key !== undefined) refuseForeign(key, projectId, uri, pointer);
    return key === undefined || key === '' ? undefined : `${key}/`;
  };
  if (init.from === 'config') {
    if ('uri' in init.tokenizer) await ownKey(init.tokenizer.uri, '/model/init/tokenizer/uri');
    return { sizes: ownSizes(spec), positions: init.config.max_position_embeddings };
  }
  const pointer = init.from === 'hf' ? '/model/init/uri' : '/model/init/checkpoint';
  const key =
    init.from === 'hf'
      ? await ownKey(init.uri, pointer)
      : (await getCheckpoint(db, projectId, init.checkpoint))?.prefix;
  const json = key === undefined ? undefined : await readConfig(store, key);
  if (json === undefined) return {};
  const sizes = sizesIn(json, pointer);
  const fault = beginningFault(sizes, spec.type);
  if (fault !== undefined) throw refused(pointer, fault);
  return { sizes, positions: sizes.maxPositions };
}

/**
 * Pushed models belong to a project; jobs and datasets are read by their ids, where whose they are is asked. Whatever the
 * case of the letters: some file systems do not tell it.
 */
function refuseForeign(key: string, projectId: string, uri: string, pointer: string): void {
  const [folder, owner] = key.toLowerCase().split('/');
  const isPushed = folder === 'models' && owner?.startsWith('proj_') === true;
  const foreign =
    folder === 'jobs' || folder === 'datasets' || (isPushed && owner !== projectId.toLowerCase());
  if (!foreign) return;
  const message = `${uri} is no model directory of this project: push it with millrace push, or name a checkpoint by its id`;
  throw refused(pointer, message);
}

const refused = (pointer: string, message: string): ProblemError =>
  new ProblemError('invalid_spec', `${pointer}: ${message}`, { issues: [{ pointer, message }] });

function sizesIn(json: unknown, pointer: string): ModelSizes {
  const parsed = modelSizes.safeParse(json);
  if (parsed.success) return parsed.data;
  const message = `its config.json names no model that can be trained:\n${z.prettifyError(parsed.error)}`;
  throw refused(pointer, message);
}

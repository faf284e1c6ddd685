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
import { ownDirectory } from './own-directory.ts';
import { readConfig } from './read-config.ts';
import { tokenizerHeld } from './tokenizer-held.ts';
import type { HeldInStore, TokenizerHeld } from './tokenizer-held.ts';

export interface ReachedModel {
  readonly sizes?: ModelSizes | undefined;
  /** Known without the sizes where only the tokenizer is not. */
  readonly positions?: number | undefined;
  /** Where it can be read. */
  readonly tokenizer?: TokenizerHeld | undefined;
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
  const own = async (uri: string, pointer: string): Promise<HeldInStore | undefined> => {
    const { prefix, fault } = await ownDirectory(store, projectId, uri);
    if (fault !== undefined) throw refused(pointer, fault);
    return prefix === undefined ? undefined : { prefix };
  };
  if (init.from === 'config') {
    const tokenizer =
      'uri' in init.tokenizer
        ? await own(init.tokenizer.uri, '/model/init/tokenizer/uri')
        : { alphabet: init.tokenizer.alphabet };
    return { sizes: ownSizes(spec), positions: init.config.max_position_embeddings, tokenizer };
  }
  const pointer = init.from === 'hf' ? '/model/init/uri' : '/model/init/checkpoint';
  const tokenizer =
    init.from === 'hf'
      ? await own(init.uri, pointer)
      : tokenizerHeld(await getCheckpoint(db, projectId, init.checkpoint));
  const json = tokenizer === undefined ? undefined : await readConfig(store, tokenizer.prefix);
  if (json === undefined) return { tokenizer };
  const sizes = sizesIn(json, pointer);
  const fault = beginningFault(sizes, spec.type);
  if (fault !== undefined) throw refused(pointer, fault);
  return { sizes, positions: sizes.maxPositions, tokenizer };
}

const refused = (pointer: string, message: string): ProblemError =>
  new ProblemError('invalid_spec', `${pointer}: ${message}`, { issues: [{ pointer, message }] });

function sizesIn(json: unknown, pointer: string): ModelSizes {
  const parsed = modelSizes.safeParse(json);
  if (parsed.success) return parsed.data;
  const message = `its config.json names no model that can be trained:\n${z.prettifyError(parsed.error)}`;
  throw refused(pointer, message);
}

// What can be known of a spec's model when the job is posted: the sizes in its config.json, where that file is in our own
// store (a checkpoint, or a directory below the store's URL) or the spec itself says the shape. Never the weights. What
// cannot be reached (a path on the runner, another bucket, a store that is away) stays unknown: the runner checks it.
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { getCheckpoint } from '../../db/checkpoints/get.ts';
import { StoreError } from '../../store/error.ts';
import type { ObjectStore } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { ownSizes } from '../contract/memory/spec-need.ts';
import type { ModelSizes } from '../contract/model-shape.ts';
import { modelSizes } from '../contract/model-shape.ts';
import type { JobSpec } from '../contract/spec.ts';
import { pushedFolder } from '../models/upload.ts';
import { ProblemError } from '../problem.ts';
import { keyOfAddress } from './key-of-address.ts';

export interface ReachedModel {
  readonly sizes?: ModelSizes | undefined;
  /** Known without the sizes where only the tokenizer is not. */
  readonly positions?: number | undefined;
}

/** A config.json is a few kilobytes. */
const mostBytes = 1 << 20;

/**
 * @throws ProblemError invalid_spec where config.json was reached and no model of ours could be read from it, and where a
 * directory is named that is another's.
 */
export async function reachModel(
  { db, store }: Pick<Services, 'db' | 'store'>,
  projectId: string,
  spec: JobSpec,
): Promise<ReachedModel> {
  const { init } = spec.model;
  const ownKey = (uri: string, pointer: string): string | undefined => {
    const key = keyOfAddress(store.describe(), uri);
    if (key !== undefined && isForeign(key, projectId)) throw notYours(uri, pointer);
    return key;
  };
  if (init.from === 'config') {
    if ('uri' in init.tokenizer) ownKey(init.tokenizer.uri, '/model/init/tokenizer/uri');
    return { sizes: ownSizes(spec), positions: init.config.max_position_embeddings };
  }
  const pointer = init.from === 'hf' ? '/model/init/uri' : '/model/init/checkpoint';
  const key =
    init.from === 'hf'
      ? ownKey(init.uri, pointer)
      : (await getCheckpoint(db, projectId, init.checkpoint))?.prefix;
  const json = key === undefined ? undefined : await readJson(store, `${key}config.json`);
  if (json === undefined) return {};
  const sizes = sizesIn(json, pointer);
  return { sizes, positions: sizes.maxPositions };
}

/** Pushed models belong to a project; jobs and datasets are read by their ids, where whose they are is asked. */
function isForeign(key: string, projectId: string): boolean {
  if (/^(jobs|datasets)\//.test(key)) return true;
  return /^models\/proj_/.test(key) && !key.startsWith(`${pushedFolder(projectId)}/`);
}

function notYours(uri: string, pointer: string): ProblemError {
  const message = `${uri} is no model directory of this project: push it with millrace push, or name a checkpoint by its id`;
  return new ProblemError('invalid_spec', message, { issues: [{ pointer, message }] });
}

async function readJson(store: ObjectStore, key: string): Promise<unknown> {
  try {
    const found = await store.head(key);
    if (found === undefined || found.size > mostBytes) return undefined;
    return JSON.parse(await text(await store.get(key)));
  } catch (error) {
    if (error instanceof StoreError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function sizesIn(json: unknown, pointer: string): ModelSizes {
  const parsed = modelSizes.safeParse(json);
  if (parsed.success) return parsed.data;
  const message = `its config.json names no model that can be trained:\n${z.prettifyError(parsed.error)}`;
  throw new ProblemError('invalid_spec', `${pointer}: ${message}`, { issues: [{ pointer, message }] });
}

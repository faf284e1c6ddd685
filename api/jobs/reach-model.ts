// What can be known of a spec's model when the job is posted: the sizes in its config.json, where that file is in our own
// store (a checkpoint, or a directory below the store's URL) or the spec itself says the shape. Never the weights. What
// cannot be reached (a path on the runner, another bucket, a store that is away) stays unknown: the runner checks it.
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { getCheckpoint } from '../../db/checkpoints/get.ts';
import { StoreError } from '../../store/error.ts';
import { keyProblem } from '../../store/keys.ts';
import type { ObjectStore } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { ownSizes } from '../contract/memory/spec-need.ts';
import type { ModelSizes } from '../contract/model-shape.ts';
import { modelSizes } from '../contract/model-shape.ts';
import type { JobSpec } from '../contract/spec.ts';
import { ProblemError } from '../problem.ts';

export interface ReachedModel {
  readonly sizes?: ModelSizes | undefined;
  /** Known without the sizes where only the tokenizer is not. */
  readonly positions?: number | undefined;
}

/** A config.json is a few kilobytes. */
const mostBytes = 1 << 20;

/** @throws ProblemError invalid_spec where config.json was reached and no model of ours could be read from it. */
export async function reachModel(
  { db, store }: Pick<Services, 'db' | 'store'>,
  projectId: string,
  spec: JobSpec,
): Promise<ReachedModel> {
  const { init } = spec.model;
  if (init.from === 'config')
    return { sizes: ownSizes(spec), positions: init.config.max_position_embeddings };
  const key =
    init.from === 'hf'
      ? keyBelow(store.describe(), init.uri)
      : (await getCheckpoint(db, projectId, init.checkpoint))?.prefix;
  if (key === undefined) return {};
  if (init.from === 'hf') refuseForeign(key, projectId, init.uri);
  const json = await readJson(store, `${key}config.json`);
  if (json === undefined) return {};
  const sizes = sizesIn(json, init.from === 'hf' ? '/model/init/uri' : '/model/init/checkpoint');
  return { sizes, positions: sizes.maxPositions };
}

/** Pushed models belong to a project; jobs and datasets are read by their ids, where whose they are is asked. */
function refuseForeign(key: string, projectId: string, uri: string): void {
  const pushed = /^models\/(prj_[^/]+)\//.exec(key);
  const foreign = /^(jobs|datasets)\//.test(key) || (pushed !== null && pushed[1] !== projectId);
  if (!foreign) return;
  const message = `${uri} is no model directory of this project: push it with millrace push, or name a checkpoint by its id`;
  throw new ProblemError('invalid_spec', message, { issues: [{ pointer: '/model/init/uri', message }] });
}

/** The key prefix of a directory below the store's own URL. */
function keyBelow(storeUrl: string, uri: string): string | undefined {
  const root = storeUrl.endsWith('/') ? storeUrl : `${storeUrl}/`;
  if (!uri.startsWith(root)) return undefined;
  const key = `${uri.slice(root.length).replace(/\/+$/, '')}/`;
  return keyProblem(`${key}config.json`) === undefined ? key : undefined;
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

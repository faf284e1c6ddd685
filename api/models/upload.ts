// Models that clients bring: which files one has is kept in the store beside them, so that this needs no table and any
// process of the API goes on with what another began. Objects: models/PROJECT/ID.json (the list) and models/PROJECT/ID/NAME.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { StoreError } from '../../store/error.ts';
import type { ObjectStore } from '../../store/store.ts';
import type { ModelFile, ModelUpload, ModelUploadRequest } from '../contract/model-upload.ts';
import { modelConfigProblem, modelUploadRequest } from '../contract/model-upload.ts';
import { bodyChunks, readBounded } from '../middleware/body.ts';
import { notFound, ProblemError } from '../problem.ts';

interface Place {
  readonly store: ObjectStore;
  readonly projectId: string;
}

const maxConfigBytes = 1 << 20;
const headsAtOnce = 8;

/** Key of the folder of all that a project has brought. */
export const pushedFolder = (projectId: string): string => `models/${projectId}`;

const folderOf = ({ projectId }: Place, id: string): string => `${pushedFolder(projectId)}/${id}`;

/** The upload of these files, whether begun before or now. */
export async function beginUpload(place: Place, { files }: ModelUploadRequest): Promise<ModelUpload> {
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  const list = sorted.map(({ name, size, sha256 }) => `${sha256} ${size} ${name}\n`).join('');
  const id = createHash('sha256').update(list).digest('hex');
  await place.store.put(`${folderOf(place, id)}.json`, Buffer.from(JSON.stringify({ files: sorted })));
  return stateOf(place, id, sorted);
}

/** @throws ProblemError not_found. */
export async function findUpload(place: Place, id: string): Promise<ModelUpload> {
  return stateOf(place, id, await filesOf(place, id));
}

/**
 * The bytes of one file, streamed through: memory is bounded whatever the size, and nothing is kept unless size and hash are
 * those of the list. @throws ProblemError not_found, invalid_model, incomplete_body.
 */
export async function receiveFile(place: Place, id: string, name: string, request: Request): Promise<void> {
  const file = (await filesOf(place, id)).find((one) => one.name === name);
  if (file === undefined) throw notFound('file of this upload', name);
  const key = `${folderOf(place, id)}/${name}`;
  if (name !== 'config.json') return put(place.store, key, file, bodyChunks(request));
  const bytes = await readBounded(request, maxConfigBytes);
  const problem = modelConfigProblem(Buffer.from(bytes).toString('utf8'));
  if (problem !== undefined) throw new ProblemError('invalid_model', problem);
  return put(place.store, key, file, [bytes]);
}

type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

async function put(
  store: ObjectStore,
  key: string,
  { size, sha256, name }: ModelFile,
  chunks: Chunks,
): Promise<void> {
  let fault: ProblemError | undefined;
  async function* noting() {
    try {
      yield* chunks;
    } catch (error) {
      if (error instanceof ProblemError) fault = error;
      throw error;
    }
  }
  try {
    await store.put(key, { stream: Readable.from(noting(), { objectMode: false }), size }, { sha256 });
  } catch (error) {
    if (fault !== undefined) throw fault;
    if (error instanceof StoreError && error.code === 'corrupt')
      throw new ProblemError('invalid_model', `${name} is not what was announced: ${error.message}`, {
        cause: error,
      });
    throw error;
  }
}

/** @throws ProblemError not_found. */
async function filesOf(place: Place, id: string): Promise<ModelFile[]> {
  try {
    const list = await text(await place.store.get(`${folderOf(place, id)}.json`));
    return modelUploadRequest.parse(JSON.parse(list)).files;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'not_found') throw notFound('model upload', id);
    throw error;
  }
}

async function stateOf(place: Place, id: string, files: readonly ModelFile[]): Promise<ModelUpload> {
  const folder = folderOf(place, id);
  const missing: string[] = [];
  for (let at = 0; at < files.length; at += headsAtOnce) {
    const some = files.slice(at, at + headsAtOnce);
    const heads = await Promise.all(some.map(({ name }) => place.store.head(`${folder}/${name}`)));
    some.forEach(({ name, size }, i) => {
      if (heads[i]?.size !== size) missing.push(name);
    });
  }
  return { id, uri: `${place.store.describe().replace(/\/+$/, '')}/${folder}`, missing };
}

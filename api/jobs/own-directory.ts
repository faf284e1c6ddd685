// A directory that a spec names by its URI, as far as it lies in the service's own store: where, and whether it is the project's to name.
import type { ObjectStore } from '../../store/store.ts';
import { keyInStore } from './store-key.ts';

export interface OwnDirectory {
  /** Of its objects, ends with a slash; undefined where it lies elsewhere, or is the whole store. */
  readonly prefix?: string;
  readonly fault?: string;
}

export async function ownDirectory(
  store: ObjectStore,
  projectId: string,
  uri: string,
): Promise<OwnDirectory> {
  const key = await keyInStore(store.describe(), uri);
  if (key === undefined || key === '') return {};
  if (!isForeign(key, projectId)) return { prefix: `${key}/` };
  return {
    fault: `${uri} is no model directory of this project: push it with millrace push, or name a checkpoint by its id`,
  };
}

/**
 * Pushed models belong to a project; jobs, datasets and files are read by their ids, where whose they are is asked. Whatever the
 * case of the letters: some file systems do not tell it.
 */
function isForeign(key: string, projectId: string): boolean {
  const [folder, owner] = key.toLowerCase().split('/');
  const isPushed = folder === 'models' && owner?.startsWith('proj_') === true;
  const isOfOneId = folder === 'jobs' || folder === 'datasets' || folder === 'files';
  return isOfOneId || (isPushed && owner !== projectId.toLowerCase());
}

// A model directory that a spec names: a folder of this machine as it lies, or one of the store that has to be fetched.
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Transfer } from '../ipc.ts';
import { mountedDirectory } from './mounted.ts';
import { TransferFailed } from './uploader-process.ts';

/** Where it lies, and what has to be moved for that: to `dir` where it is not of this machine. Throws TransferFailed for a bad URI. */
export function modelDirectory(
  uri: string,
  dir: string,
  roots: readonly string[],
): { path: string; transfers: Transfer[] } {
  const path = localPath(uri, roots);
  return path === undefined
    ? { path: dir, transfers: [{ kind: 'fetch_model', uri, dir }] }
    : { path, transfers: [] };
}

/** A local path where the URI is one; undefined where it must be fetched. */
function localPath(uri: string, roots: readonly string[]): string | undefined {
  if (uri.startsWith('s3://')) return undefined;
  const path = uri.startsWith('file:') ? pathOfFileUri(uri) : uri;
  if (!isAbsolute(path))
    throw unusable(uri, 'a model directory is an absolute path, a file: URI or an s3: URI');
  const found = mountedDirectory(path, roots);
  if (found !== undefined) return found;
  const allowed = roots.length === 0 ? 'none is set' : `only ${roots.join(', ')}`;
  throw unusable(
    uri,
    `no directory that this runner may read models from (MILLRACE_MODEL_ROOTS: ${allowed}); put it below one, or bring it to the store with millrace push and name the URI that it prints`,
  );
}

function pathOfFileUri(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch (error) {
    throw unusable(
      uri,
      `not a file: URI of a folder here, such as file:///models/a: ${(error as Error).message}`,
    );
  }
}

const unusable = (uri: string, why: string): TransferFailed =>
  new TransferFailed('fetch_model', 'missing', `${uri}: ${why}`);

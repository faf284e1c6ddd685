// Directories on this machine that a spec may name: those below the configured roots. Whoever may post a job must not be
// able to have any folder of the runner read as a model and carried into a checkpoint.
import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute, resolve, sep } from 'node:path';

/** Of a list like PATH. Throws where one is not absolute. */
export function parseRoots(list: string): string[] {
  const roots = list.split(delimiter).filter((root) => root !== '');
  const relative = roots.find((root) => !isAbsolute(root));
  if (relative !== undefined) throw new Error(`${relative} is not an absolute path`);
  return roots;
}

/** The directory that `path` is, links followed, if it lies in or below a root; else undefined. */
export function mountedDirectory(path: string, roots: readonly string[]): string | undefined {
  const real = realPath(path);
  return roots.map(realPath).some((root) => isWithin(real, root)) ? real : undefined;
}

const isWithin = (path: string, root: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);

/** What does not exist stays as it is written, without `..`: the trainer says that it is not there. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

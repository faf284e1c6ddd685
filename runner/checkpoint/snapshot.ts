// Writes a checkpoint into a directory of local scratch: model files in Hugging Face layout, adapters in PEFT's under
// adapter/, what the trainer needs for an exact resume under trainer/, the manifest last. Uploading is someone else's work.
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Manifest } from '../../api/contract/checkpoint.ts';
import { manifestName } from '../../api/contract/checkpoint.ts';
import { ScratchFull } from './error.ts';
import { manifestText } from './manifest.ts';
import type { ModelFiles } from './model-files.ts';
import type { NamedArrays } from './safetensors.ts';
import { adapterFolder, writeAdapter } from './adapter.ts';
import type { StoredAdapter } from './adapter.ts';
import { writeArrays, writeModel, writeModelFiles, writeText } from './write-model.ts';
import type { ListedFile } from './write-model.ts';

export interface SnapshotContents {
  /** Tensors by their Hugging Face names; tied ones once. Left out where adapters are trained and the base is kept elsewhere. */
  readonly weights?: NamedArrays;
  readonly adapter?: StoredAdapter;
  readonly modelFiles: ModelFiles;
  /** Optimizer moments, in any layout that their owner can read back; left out where they have been reset. */
  readonly moments?: NamedArrays;
  /** What a stage with a KL penalty is held to, by names that its owner can read back. */
  readonly reference?: NamedArrays | undefined;
  /** Everything else that a resume needs, as JSON. */
  readonly state: unknown;
}

export const momentsName = 'trainer/moments.safetensors';
export const referenceName = 'trainer/reference.safetensors';
export const stateName = 'trainer/state.json';

/** Room for headers, JSON files and the file system's own needs. */
const slackBytes = 4 << 20;

const bytesOf = (arrays: NamedArrays): number =>
  [...arrays.values()].reduce((sum, { data }) => sum + data.byteLength, 0);

async function checkSpace(dir: string, contents: SnapshotContents): Promise<number> {
  const texts = [...contents.modelFiles.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const { weights, adapter, moments, reference } = contents;
  const arrays = [weights, adapter?.tensors, moments, reference].map((some) => bytesOf(some ?? new Map()));
  const needed = arrays.reduce((sum, bytes) => sum + bytes, texts + slackBytes);
  const free = await freeBytes(dir);
  if (free < needed) throw new ScratchFull(dir, needed, free);
  return needed;
}

async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}

async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeFiles(dir: string, contents: SnapshotContents): Promise<ListedFile[]> {
  await mkdir(join(dir, dirname(stateName)), { recursive: true });
  const { weights, adapter, modelFiles } = contents;
  const files = weights
    ? await writeModel(dir, { weights, modelFiles })
    : await writeModelFiles(dir, modelFiles);
  if (adapter !== undefined) files.push(...(await writeAdapterFolder(dir, adapter)));
  if (contents.moments !== undefined) files.push(await writeArrays(dir, momentsName, contents.moments));
  if (contents.reference !== undefined) files.push(await writeArrays(dir, referenceName, contents.reference));
  files.push(await writeText(dir, stateName, JSON.stringify(contents.state)));
  await syncDirectory(join(dir, dirname(stateName)));
  return files;
}

async function writeAdapterFolder(dir: string, adapter: StoredAdapter): Promise<ListedFile[]> {
  const folder = join(dir, adapterFolder);
  await mkdir(folder);
  const files = await writeAdapter(folder, adapter);
  await syncDirectory(folder);
  return files.map((file) => ({ ...file, name: `${adapterFolder}/${file.name}` }));
}

export type SnapshotHeader = Omit<Manifest, 'format' | 'files'>;

/**
 * Writes everything, flushed to disk, and returns the manifest. `dir` must not exist yet; its parent must.
 * Throws ScratchFull before anything is written, or when the disk fills up meanwhile; a failure leaves no directory.
 */
export async function writeSnapshot(
  dir: string,
  header: SnapshotHeader,
  contents: SnapshotContents,
): Promise<Manifest> {
  const needed = await checkSpace(dirname(dir), contents);
  await mkdir(dir);
  try {
    const files = await writeFiles(dir, contents);
    const manifest: Manifest = { format: 'millrace-checkpoint-1', ...header, files };
    await writeText(dir, manifestName, manifestText(manifest));
    await syncDirectory(dir);
    return manifest;
  } catch (cause) {
    await rm(dir, { recursive: true, force: true });
    const full = ['ENOSPC', 'EDQUOT'].includes((cause as NodeJS.ErrnoException).code ?? '');
    throw full ? new ScratchFull(dirname(dir), needed, await freeBytes(dirname(dir)), { cause }) : cause;
  }
}

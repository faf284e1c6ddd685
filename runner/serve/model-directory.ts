// Where the model that the user named lies on this machine: a directory as it is, an s3:// URI fetched first, with the same
// code and credentials as for jobs.
import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../store/open.ts';
import { fetchModel } from '../uploader/fetch.ts';

/** The model cannot be had, for a reason that the user can mend. */
export class NoModel extends Error {
  override readonly name = 'NoModel';
}

/** An adapter as a checkpoint of LoRA keeps it at a step, or its adapter/ folder. */
function isAdapterAlone(directory: string): boolean {
  const has = (name: string): boolean => existsSync(join(directory, name));
  const hasWeights = has('model.safetensors') || has('model.safetensors.index.json');
  return (has('adapter_config.json') || has('adapter/adapter_config.json')) && !hasWeights;
}

/** `model`: a path, a file: URI or an s3: URI; S3_ variables and MILLRACE_SCRATCH come from `env`. @throws NoModel. */
export async function modelDirectory(model: string, env: NodeJS.ProcessEnv): Promise<string> {
  if (model.startsWith('s3://')) return fetched(model, env);
  const directory = model.startsWith('file:') ? pathOf(model) : resolve(model);
  const found = await stat(directory).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw new NoModel(
      `${directory}: there is no such directory; a model is a directory with config.json, tokenizer.json and *.safetensors`,
    );
  if (isAdapterAlone(directory))
    throw new NoModel(
      `${directory}: an adapter without its model; name the checkpoint of the end of a stage: it holds both, merged (docs/lora.md)`,
    );
  return directory;
}

function pathOf(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch (cause) {
    throw new NoModel(`${uri}: not a file: URI of a folder here: ${(cause as Error).message}`, { cause });
  }
}

/** Fetched anew each time: what lies under a URI may have changed, and no hash says so. */
async function fetched(uri: string, env: NodeJS.ProcessEnv): Promise<string> {
  const scratch = resolve(env['MILLRACE_SCRATCH'] ?? join(tmpdir(), 'millrace-scratch'));
  const name = `model-${createHash('sha256').update(uri).digest('hex').slice(0, 16)}-${process.pid}`;
  const directory = join(scratch, name);
  await rm(directory, { recursive: true, force: true });
  const openOther = (url: string) => openStore(url, env);
  const context = { store: openOther(uri), openOther, patience: { limitMs: 30_000, firstPauseMs: 500 } };
  try {
    await fetchModel(context, uri, directory);
  } catch (cause) {
    await rm(directory, { recursive: true, force: true });
    throw new NoModel((cause as Error).message, { cause });
  }
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

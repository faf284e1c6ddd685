// The manifest: what a checkpoint consists of, each file with size and SHA-256. It is written last, so a directory
// with a manifest is complete.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Manifest } from '../../api/contract/checkpoint.ts';
import { manifest as manifestSchema, manifestName } from '../../api/contract/checkpoint.ts';
import { CheckpointCorrupt } from './error.ts';
import { sha256OfFile } from './hash.ts';

export const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 1)}\n`;

/** Throws CheckpointCorrupt where there is no manifest or it is malformed. */
export async function readManifest(dir: string): Promise<Manifest> {
  const file = join(dir, manifestName);
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CheckpointCorrupt(`${dir}: holds no readable ${manifestName}: not a complete checkpoint`, {
      cause,
    });
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new CheckpointCorrupt(`${file}: not JSON: ${(cause as Error).message}`, { cause });
  }
  const parsed = manifestSchema.safeParse(json);
  if (!parsed.success)
    throw new CheckpointCorrupt(`${file}: malformed manifest: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Compares every listed file with its size and hash. Throws CheckpointCorrupt naming the first that differs. */
export async function verifyFiles(dir: string, { files }: Pick<Manifest, 'files'>): Promise<void> {
  for (const { name, size, sha256 } of files) {
    const file = join(dir, name);
    const found = await stat(file).catch(() => undefined);
    if (found === undefined)
      throw new CheckpointCorrupt(`${file}: is listed in ${manifestName} but is not there`);
    if (found.size !== size) {
      throw new CheckpointCorrupt(`${file}: has ${found.size} bytes, ${manifestName} says ${size}`);
    }
    const hash = await sha256OfFile(file);
    if (hash !== sha256)
      throw new CheckpointCorrupt(`${file}: its SHA-256 is ${hash}, ${manifestName} says ${sha256}`);
  }
}

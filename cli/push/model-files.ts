// The files of a model directory that are worth sending, checked before anything is: what is missing or of no known family
// is named, and every file has its hash.
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ModelFile } from '../../api/contract/model-upload.ts';
import {
  missingModelFiles,
  modelConfigProblem,
  modelFileName,
  weightsIndexName,
  weightsName,
} from '../../api/contract/model-upload.ts';
import { UserError } from '../user-error.ts';

/** Names in the order in which they are sent: what may be refused at a glance first. @throws UserError. */
export function modelFileNames(directory: string): string[] {
  const names = namesIn(directory).filter((name) => modelFileName.safeParse(name).success);
  const missing = missingModelFiles(names);
  if (missing.length > 0) throw new UserError(`${directory} is no model: it lacks ${missing.join(', ')}`);
  const problem = modelConfigProblem(readFileSync(join(directory, 'config.json'), 'utf8'));
  if (problem !== undefined) throw new UserError(`${directory}: ${problem}`);
  const weights = weightFiles(directory, names);
  const small = names.filter((name) => !name.includes('.safetensors'));
  return [...small.sort((a, b) => Number(b === 'config.json') - Number(a === 'config.json')), ...weights];
}

function namesIn(directory: string): string[] {
  try {
    // A download of the hub holds links into its cache.
    return readdirSync(directory).filter((name) => statSync(join(directory, name)).isFile());
  } catch (error) {
    throw new UserError(`${directory} cannot be read: ${(error as Error).message}`);
  }
}

const shardIndex = z.object({ weight_map: z.record(z.string(), z.string()) });

/** One file, or the index with the shards that it names; other safetensors files (adapters, old copies) stay where they are. */
function weightFiles(directory: string, names: readonly string[]): string[] {
  if (names.includes(weightsName)) return [weightsName];
  const file = join(directory, weightsIndexName);
  let index: z.infer<typeof shardIndex>;
  try {
    index = shardIndex.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new UserError(`${file} is no index of shards: ${(error as Error).message}`);
  }
  const shards = [...new Set(Object.values(index.weight_map))].sort();
  const absent = shards.filter((shard) => !names.includes(shard));
  if (absent.length > 0)
    throw new UserError(`${directory} lacks ${absent.join(', ')}, which ${weightsIndexName} names`);
  return [weightsIndexName, ...shards];
}

/** Reads everything once. `onBytes` hears how many bytes of all files have been read. */
export async function hashFiles(
  directory: string,
  names: readonly string[],
  onBytes: (done: number) => void,
  signal: AbortSignal,
): Promise<ModelFile[]> {
  const files: ModelFile[] = [];
  let done = 0;
  for (const name of names) {
    const hash = createHash('sha256');
    let size = 0;
    const stream = createReadStream(join(directory, name), { highWaterMark: 1 << 20, signal });
    for await (const chunk of stream) {
      hash.update(chunk as Buffer);
      size += (chunk as Buffer).byteLength;
      onBytes(done + size);
    }
    done += size;
    files.push({ name, size, sha256: hash.digest('hex') });
  }
  return files;
}

// The sizes of a spec's model, where they can be known here: from the spec, from a directory on this machine, from a
// checkpoint of a service that answers. Weights are never read.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Client } from '../../api/client.ts';
import { rewardModelReferences } from '../../api/contract/expand.ts';
import { ownSizes } from '../../api/contract/memory/spec-need.ts';
import type { ModelSizes } from '../../api/contract/model-shape.ts';
import { modelSizes, sizesOfShape } from '../../api/contract/model-shape.ts';
import type { JobSpec } from '../../api/contract/spec.ts';
import { teacherKey, teacherReferences } from '../../api/contract/teachers.ts';

export interface KnownModel {
  readonly sizes?: ModelSizes;
  /** Known without the rest where only the tokenizer's words are not. */
  readonly positions?: number;
  /** Why the sizes are not known, and what to do. */
  readonly missing?: string;
}

/** `client`: undefined where no service answers. */
export async function knownModel(spec: JobSpec, client: Client | undefined): Promise<KnownModel> {
  const { init } = spec.model;
  try {
    if (init.from === 'config') return shapeOf(spec, init);
    if (init.from === 'hf') return known(parseSizes(readLocal(init.uri, 'config.json'), init.uri));
    if (client === undefined)
      return {
        missing: `the sizes of checkpoint ${init.checkpoint}: no service answers that could be asked`,
      };
    return known(await sizesOfCheckpoint(client, init.checkpoint));
  } catch (error) {
    return { missing: `the model's sizes: ${(error as Error).message}` };
  }
}

/** Of the checkpoints that score, those that a service answers for; the others are left out. */
export async function knownRewardModels(
  spec: JobSpec,
  client: Client | undefined,
): Promise<ReadonlyMap<string, ModelSizes>> {
  const found = new Map<string, ModelSizes>();
  if (client === undefined) return found;
  for (const id of new Set(rewardModelReferences(spec).map(({ model }) => model)))
    await add(found, id, () => sizesOfCheckpoint(client, id));
  return found;
}

/** Of teachers from outside, by `teacherKey`; which checkpoint of another job teaches is chosen when the job is posted. */
export async function knownTeachers(
  spec: JobSpec,
  client: Client | undefined,
): Promise<ReadonlyMap<string, ModelSizes>> {
  const found = new Map<string, ModelSizes>();
  for (const { teacher, domain } of teacherReferences(spec)) {
    const key = teacherKey(teacher, domain);
    if (typeof teacher === 'string') {
      if (client !== undefined) await add(found, key, () => sizesOfCheckpoint(client, teacher));
    } else if ('uri' in teacher)
      await add(found, key, () => parseSizes(readLocal(teacher.uri, 'config.json'), teacher.uri));
  }
  return found;
}

/** Of what cannot be read `explain` says by its name that it is not counted. */
async function add(
  found: Map<string, ModelSizes>,
  key: string,
  sizes: () => ModelSizes | Promise<ModelSizes>,
): Promise<void> {
  try {
    found.set(key, await sizes());
  } catch {
    // Not known.
  }
}

const sizesOfCheckpoint = async (client: Client, id: string): Promise<ModelSizes> =>
  parseSizes(await (await client.checkpointFile(id, 'config.json')).text(), id);

const known = (sizes: ModelSizes): KnownModel => ({ sizes, positions: sizes.maxPositions });

type ConfigInit = Extract<JobSpec['model']['init'], { from: 'config' }>;

function shapeOf(spec: JobSpec, { config, tokenizer }: ConfigInit): KnownModel {
  const own = ownSizes(spec);
  if (own !== undefined) return known(own);
  const positions = config.max_position_embeddings;
  if (!('uri' in tokenizer)) return { positions, missing: 'the tokenizer’s words' };
  try {
    return known(sizesOfShape(config, vocabSizeOf(readLocal(tokenizer.uri, 'tokenizer.json'))));
  } catch (error) {
    return { positions, missing: `the tokenizer's words: ${(error as Error).message}` };
  }
}

function parseSizes(text: string, where: string): ModelSizes {
  const parsed = modelSizes.safeParse(JSON.parse(text));
  if (!parsed.success)
    throw new Error(
      `config.json of ${where} names no model that can be trained:\n${z.prettifyError(parsed.error)}`,
    );
  return parsed.data;
}

function readLocal(uri: string, file: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(uri) && !uri.startsWith('file:'))
    throw new Error(`${uri} is not read from here; give a directory of this machine that holds its ${file}`);
  return readFileSync(join(uri.startsWith('file:') ? fileURLToPath(uri) : uri, file), 'utf8');
}

/** Of the models that tokenizer.json may hold, Unigram lists its words; the others map them to ids. */
const tokenizerFile = z.object({
  model: z.object({ vocab: z.union([z.record(z.string(), z.number()), z.array(z.unknown())]) }),
  added_tokens: z.array(z.object({ id: z.number() })).default([]),
});

/** One more than the largest id. */
function vocabSizeOf(text: string): number {
  const { model, added_tokens } = tokenizerFile.parse(JSON.parse(text));
  const ids = Array.isArray(model.vocab) ? [model.vocab.length - 1] : Object.values(model.vocab);
  return ids.concat(added_tokens.map(({ id }) => id)).reduce((most, id) => Math.max(most, id), -1) + 1;
}

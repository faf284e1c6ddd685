// A teacher's model directory: whether it can teach this student, seen without reading a weight, and the teacher itself, frozen.
import { join } from 'node:path';
import { tokenizerDifference } from '../../api/contract/tokenizer-difference.ts';
import { parseModelFile, readModelFiles } from '../checkpoint/model-files.ts';
import { readModelShapes } from '../checkpoint/safetensors.ts';
import { Scorer } from '../engine/learner/scorer.ts';
import type { ScorerOptions } from '../engine/learner/scorer.ts';
import { parseModelConfig } from '../engine/models/config.ts';
import type { DecoderConfig } from '../engine/models/config.ts';
import { parameterLayout } from '../engine/models/parameters.ts';
import type { Runtime } from '../engine/ort/runtime.ts';
import { readModel } from '../grader/read-model.ts';
import type { LoadedModel } from '../grader/read-model.ts';

/** What a teacher has to fit. */
export type Student = Pick<LoadedModel, 'config' | 'files'>;

/** The teacher's configuration. Throws naming what is missing or does not fit. */
export async function checkTeacher(student: Student, directory: string): Promise<DecoderConfig> {
  const files = await readModelFiles(directory);
  const config = parseModelConfig(
    parseModelFile(files, 'config.json', directory),
    join(directory, 'config.json'),
  );
  if (config.scalarHead === true)
    throw new Error(
      `${directory}: the model has a scalar head: a reward model says no words, name a language model`,
    );
  const difference = tokenizerDifference(
    parseModelFile(student.files, 'tokenizer.json', 'the model'),
    parseModelFile(files, 'tokenizer.json', directory),
  );
  if (difference !== undefined)
    throw new Error(`${directory}: its ${difference}: a teacher scores the very tokens that the model says`);
  if (config.vocabSize !== student.config.vocabSize)
    throw new Error(
      `${directory}: the model has ${config.vocabSize} words, the one in training ${student.config.vocabSize}: their distributions cannot be compared`,
    );
  checkShapes(config, await readModelShapes(directory), directory);
  return config;
}

function checkShapes(
  config: DecoderConfig,
  shapes: ReadonlyMap<string, readonly number[]>,
  directory: string,
): void {
  for (const { name, shape } of parameterLayout(config).slots.values()) {
    const found = shapes.get(name);
    if (found?.join() !== shape.join())
      throw new Error(
        `${directory}: ${found === undefined ? `lacks tensor "${name}"` : `tensor "${name}" has shape [${found.join(', ')}]`}, its configuration needs it with shape [${shape.join(', ')}]`,
      );
  }
}

/** Reads it into memory; the directory is not needed after that. Throws as `checkTeacher`, and where weights do not fit. */
export async function openTeacher(
  runtime: Runtime,
  student: Student,
  directory: string,
  options: ScorerOptions,
): Promise<Scorer> {
  await checkTeacher(student, directory);
  const { config, weights } = await readModel(directory);
  return await Scorer.create(runtime, config, weights, options);
}

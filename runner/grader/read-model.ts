// A model directory in Hugging Face layout, read: what graders score with and what training starts from. A reward model is
// such a directory whose config.json names a ForSequenceClassification of one label, with `score.weight` [1, D] in place of
// a language head, as transformers writes it.
import { join } from 'node:path';
import type { ModelFileName } from '../checkpoint/model-files.ts';
import { parseModelFile, readModelFiles } from '../checkpoint/model-files.ts';
import { readModelWeights } from '../checkpoint/safetensors.ts';
import { parseModelConfig } from '../engine/models/config.ts';
import type { DecoderConfig } from '../engine/models/config.ts';
import type { Weights } from '../engine/models/initialize.ts';
import { Tokenizer } from '../engine/tokenizer/tokenizer.ts';

export interface LoadedModel {
  readonly config: DecoderConfig;
  readonly weights: Weights;
  readonly tokenizer: Tokenizer;
  readonly files: ReadonlyMap<ModelFileName, string>;
}

/** Throws naming the file that is missing or wrong. */
export async function readModel(directory: string): Promise<LoadedModel> {
  const files = await readModelFiles(directory);
  const config = parseModelConfig(
    parseModelFile(files, 'config.json', directory),
    join(directory, 'config.json'),
  );
  return {
    config,
    weights: await readModelWeights(directory),
    tokenizer: fit(await Tokenizer.load(directory), config, directory),
    files,
  };
}

function fit(tokenizer: Tokenizer, config: DecoderConfig, directory: string): Tokenizer {
  if (tokenizer.vocabSize > config.vocabSize) {
    throw new Error(
      `${directory}: the tokenizer has ids up to ${tokenizer.vocabSize - 1}, the model ${config.vocabSize} words: they do not belong together`,
    );
  }
  return tokenizer;
}

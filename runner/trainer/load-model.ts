// The model that an attempt trains: from a directory in Hugging Face layout (given, or a checkpoint of ours), or a new one
// from the spec's shape and tokenizer. The small files beside the weights are carried into every checkpoint.
import { join } from 'node:path';
import type { JobSpec } from '../../api/contract/spec.ts';
import type { Inputs } from '../ipc.ts';
import type { ModelFileName } from '../checkpoint/model-files.ts';
import { readModelFiles } from '../checkpoint/model-files.ts';
import { hfModelConfig, parseModelConfig } from '../engine/models/config.ts';
import { initialWeights } from '../engine/models/initialize.ts';
import { charactersTokenizer } from '../engine/tokenizer/characters.ts';
import { parseTokenizerFiles } from '../engine/tokenizer/files.ts';
import { Tokenizer } from '../engine/tokenizer/tokenizer.ts';
import type { LoadedModel } from '../grader/read-model.ts';
import { readModel } from '../grader/read-model.ts';

export type { LoadedModel };

type ModelInit = JobSpec['model']['init'];
type ConfigInit = Extract<ModelInit, { from: 'config' }>;

/** The model's files or configuration cannot be used; trying again would fail alike. */
export class InvalidModel extends Error {
  override readonly name = 'InvalidModel';
}

/** `inputs.resume`, where given, is the checkpoint to go on from: it holds the model too, unless adapters alone are trained. */
export async function loadModel(
  init: ModelInit,
  inputs: Inputs,
  seed: number,
  method: 'full' | 'lora' = 'full',
): Promise<LoadedModel> {
  const directory = method === 'full' ? (inputs.resume ?? inputs.init) : inputs.init;
  try {
    if (directory !== undefined) return await readModel(directory);
    if (init.from !== 'config')
      throw new Error(`the attempt was started without the model that the spec names (${init.from})`);
    return await newModel(init, inputs.tokenizer, seed);
  } catch (cause) {
    throw new InvalidModel((cause as Error).message, { cause });
  }
}

async function newModel(
  { config: shape, tokenizer: source }: ConfigInit,
  tokenizerDirectory: string | undefined,
  seed: number,
): Promise<LoadedModel> {
  const texts: TokenizerTexts =
    'type' in source
      ? charactersTokenizer(source.alphabet)
      : await readTokenizerTexts(tokenizerDirectory ?? source.uri);
  const tokenizer = new Tokenizer(
    parseTokenizerFiles(texts, 'uri' in source ? source.uri : 'characters tokenizer'),
  );
  const hf = { hidden_act: 'silu', ...shape, vocab_size: tokenizer.vocabSize };
  const config = parseModelConfig(hf, 'model.init.config');
  const ids = { bosId: tokenizer.bosId, eosId: tokenizer.eosId, padId: tokenizer.padId };
  const files = new Map<ModelFileName, string>([
    ['config.json', `${JSON.stringify(hfModelConfig(config, ids), null, 2)}\n`],
    ['tokenizer.json', texts.tokenizer],
    ['tokenizer_config.json', texts.config],
  ]);
  if (texts.chatTemplate !== undefined) files.set('chat_template.jinja', texts.chatTemplate);
  return { config, weights: initialWeights(config, seed), tokenizer, files };
}

interface TokenizerTexts {
  readonly tokenizer: string;
  readonly config: string;
  readonly chatTemplate?: string;
}

async function readTokenizerTexts(directory: string): Promise<TokenizerTexts> {
  const files = await readModelFiles(directory);
  const need = (name: ModelFileName): string => {
    const text = files.get(name);
    if (text === undefined)
      throw new Error(
        `${join(directory, name)}: there is no such file; model.init.tokenizer.uri names a directory that holds it`,
      );
    return text;
  };
  const chatTemplate = files.get('chat_template.jinja');
  return {
    tokenizer: need('tokenizer.json'),
    config: need('tokenizer_config.json'),
    ...(chatTemplate === undefined ? {} : { chatTemplate }),
  };
}

// The files that make up a tokenizer in HF layout, read and schema-checked, but not yet interpreted.
// Everything that is missing or malformed is named by its path.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const specialToken = z
  .union([z.string(), z.object({ content: z.string() }).transform(({ content }) => content)])
  .nullish()
  .transform((content) => content ?? undefined);

const namedTemplates = z.array(z.object({ name: z.string(), template: z.string() }));

/** The fields of tokenizer_config.json that we use; the others go to the tokenizer library as they are. */
const tokenizerConfig = z.looseObject({
  bos_token: specialToken,
  eos_token: specialToken,
  pad_token: specialToken,
  sep_token: specialToken,
  unk_token: specialToken,
  clean_up_tokenization_spaces: z.boolean().nullish(),
  chat_template: z.union([z.string(), namedTemplates]).nullish(),
});

export type TokenizerConfig = z.infer<typeof tokenizerConfig>;

export interface TokenizerFiles {
  /** Where they came from: a directory, or a description; named in errors. */
  readonly source: string;
  readonly model: Record<string, unknown>;
  readonly config: TokenizerConfig;
  /** Jinja source; undefined for a model without a chat format. */
  readonly chatTemplate: string | undefined;
}

function parseObject(text: string, file: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${file}: not JSON: ${(cause as Error).message}`, { cause });
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new Error(`${file}: not a JSON object`);
  return json as Record<string, unknown>;
}

function templateOf(config: TokenizerConfig, file: string): string | undefined {
  const template = config.chat_template ?? undefined;
  if (template === undefined || typeof template === 'string') return template;
  const chosen = template.find(({ name }) => name === 'default');
  if (chosen === undefined)
    throw new Error(
      `${file}: chat_template lists ${template.map(({ name }) => name).join(', ')} but no "default"`,
    );
  return chosen.template;
}

/** The same from texts in memory. `source` names them in errors. */
export function parseTokenizerFiles(
  texts: { tokenizer: string; config: string; chatTemplate?: string | undefined },
  source: string,
): TokenizerFiles {
  const configFile = join(source, 'tokenizer_config.json');
  const config = tokenizerConfig.safeParse(parseObject(texts.config, configFile));
  if (!config.success) throw new Error(`${configFile}: ${z.prettifyError(config.error)}`);
  return {
    source,
    model: parseObject(texts.tokenizer, join(source, 'tokenizer.json')),
    config: config.data,
    chatTemplate: texts.chatTemplate ?? templateOf(config.data, configFile),
  };
}

async function readText(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new Error(`${file}: cannot read the ${what}: ${(cause as Error).message}`, { cause });
  }
}

/** Reads `tokenizer.json`, `tokenizer_config.json` and, where present, `chat_template.jinja` (which wins over the config's). */
export async function readTokenizerFiles(directory: string): Promise<TokenizerFiles> {
  const tokenizer = await readText(join(directory, 'tokenizer.json'), 'tokenizer');
  const config = await readText(join(directory, 'tokenizer_config.json'), 'tokenizer configuration');
  const chatTemplate = await readFile(join(directory, 'chat_template.jinja'), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    },
  );
  return parseTokenizerFiles({ tokenizer, config, chatTemplate }, directory);
}

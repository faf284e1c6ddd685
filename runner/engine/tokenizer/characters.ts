// The `characters` tokenizer of a spec: one token per character of an alphabet, plus four special tokens.
// It exists only as the two files that it writes, so that a checkpoint holds it and any tool loads it.

import { parseTokenizerFiles } from './files.ts';
import type { TokenizerFiles } from './files.ts';

const specialTokens = {
  sep_token: '<sep>',
  eos_token: '<eos>',
  pad_token: '<pad>',
  unk_token: '<unk>',
} as const;

// Each turn of the user ends with <sep>, each of the assistant with <eos>: a prompt is then a prefix of its completed chat.
const chatTemplate =
  "{% for message in messages %}{{ message['content'] }}{% if message['role'] == 'assistant' %}{{ eos_token }}{% else %}{{ sep_token }}{% endif %}{% endfor %}";

export interface CharactersTokenizerTexts {
  readonly tokenizer: string;
  readonly config: string;
}

function vocabulary(alphabet: string): Record<string, number> {
  const characters = [...alphabet];
  if (characters.length === 0) throw new Error('characters tokenizer: the alphabet is empty');
  const repeated = characters.find((character, i) => characters.indexOf(character) !== i);
  if (repeated !== undefined)
    throw new Error(`characters tokenizer: the alphabet holds ${JSON.stringify(repeated)} twice`);
  return Object.fromEntries([...Object.values(specialTokens), ...characters].map((token, id) => [token, id]));
}

/** Contents of `tokenizer.json` and `tokenizer_config.json`. Ids: sep 0, eos 1, pad 2, unk 3, then the alphabet in order. */
export function charactersTokenizer(alphabet: string): CharactersTokenizerTexts {
  const vocab = vocabulary(alphabet);
  const special = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: Object.values(specialTokens).map((content, id) => ({ id, content, ...special })),
    normalizer: null,
    // Not ".", which leaves line breaks together.
    pre_tokenizer: { type: 'Split', pattern: { Regex: '[\\s\\S]' }, behavior: 'Isolated', invert: false },
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: { type: 'WordLevel', vocab, unk_token: specialTokens.unk_token },
  };
  const config = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    ...specialTokens,
    bos_token: null,
    clean_up_tokenization_spaces: false,
    chat_template: chatTemplate,
  };
  return { tokenizer: JSON.stringify(tokenizer, null, 1), config: JSON.stringify(config, null, 1) };
}

/** The same, ready for `new Tokenizer`. */
export function charactersTokenizerFiles(alphabet: string): TokenizerFiles {
  return parseTokenizerFiles(charactersTokenizer(alphabet), 'characters tokenizer');
}

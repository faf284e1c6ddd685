// Writes the small world into a folder: `node examples/small-world/generate.ts [FOLDER]`, by default `data` beside this file,
// where examples/small-world.json looks for it. 4 MB that any machine writes alike, so they are not committed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chatRule } from './chat-rule.ts';
import { tokenizerFiles } from './tokenizer.ts';
import type { Part, World } from './world.ts';
import { conversations, createWorld, domains, textsOf } from './world.ts';

const writtenParts = ['train', 'eval', 'dev', 'heldout'] as const satisfies readonly Part[];

/** File name to contents: `tokenizer/…`, and one JSON object a line in the others. */
export function worldFiles(world: World): Record<string, string> {
  const files: Record<string, string> = { 'sft.jsonl': lines(conversations(world)) };
  for (const [name, text] of Object.entries(tokenizerFiles(textsOf(world))))
    files[`tokenizer/${name}`] = text;
  for (const { name } of domains)
    for (const part of writtenParts)
      files[`${name}-${part}.jsonl`] = lines(world[name][part].map(({ row }) => row));
  files['chat-pairs.jsonl'] = lines(world.chat.pairs.map(({ row }) => row));
  for (const part of ['eval', 'dev', 'heldout'] as const)
    files[`chat-rule-${part}.jsonl`] = lines(world.chat[part].map(({ row }) => chatRule(row)));
  return files;
}

const lines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

if (import.meta.main) {
  const folder = process.argv[2] ?? join(import.meta.dirname, 'data');
  for (const [name, text] of Object.entries(worldFiles(createWorld()))) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

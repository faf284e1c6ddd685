// Writes the example's three datasets beside this file: `node examples/digits/generate.ts`. They are committed, so the
// spec can be posted as it is; a test regenerates them and expects the same bytes. Train and test share no prompt.
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sequence } from './sequence.ts';
import { answerOf, promptOf } from './sequence.ts';

const seed = 'millrace digits 1';
const modulus = 9;
const mostTerms = 9;
const trainRows = 600;
const testRows = 120;

/** File name to contents, one JSON object a line. */
export function datasets(): Record<string, string> {
  const chosen = shuffled(everySequence());
  const train = chosen.slice(0, trainRows);
  const test = chosen.slice(trainRows, trainRows + testRows);
  return {
    'sft.jsonl': lines(train.map(conversation)),
    'train.jsonl': lines(train.map(task)),
    'test.jsonl': lines(test.map(task)),
  };
}

function everySequence(): Sequence[] {
  return below(modulus).flatMap((first) =>
    below(modulus).flatMap((second) =>
      below(mostTerms).map((fewer) => ({ first, second, modulus, terms: fewer + 1 })),
    ),
  );
}

/** Sorted by a keyed hash: the same order on every machine. */
function shuffled(sequences: readonly Sequence[]): Sequence[] {
  const keyed = sequences.map((sequence) => ({
    sequence,
    key: hash('sha256', `${seed}/${promptOf(sequence)}`),
  }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ sequence }) => sequence);
}

const below = (end: number): number[] => Array.from({ length: end }, (_, value) => value);
const lines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const task = (sequence: Sequence) => ({ prompt: promptOf(sequence), answer: answerOf(sequence) });
const conversation = (sequence: Sequence) => ({
  messages: [
    { role: 'user', content: promptOf(sequence) },
    { role: 'assistant', content: answerOf(sequence) },
  ],
});

if (import.meta.main) {
  for (const [name, text] of Object.entries(datasets())) writeFileSync(join(import.meta.dirname, name), text);
}

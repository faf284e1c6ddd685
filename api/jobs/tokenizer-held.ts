// Tokenizers of a student and its teacher, compared when a job is posted, where both can be read from the service's own store. Undefined
// everywhere means: not known here; the runner looks again.
import type { CheckpointRow } from '../../db/schema.ts';
import type { ObjectStore } from '../../store/store.ts';
import {
  charactersVocabulary,
  tokenizerDifference,
  vocabularyDifference,
  vocabularyOf,
} from '../contract/tokenizer-difference.ts';
import { readJson } from './read-json.ts';

/** Objects below `prefix`, the hash of tokenizer.json where it is known. */
export interface HeldInStore {
  readonly prefix: string;
  readonly sha256?: string;
}

/** That, or the alphabet of a `characters` tokenizer. */
export type TokenizerHeld = HeldInStore | { readonly alphabet: string };

export function tokenizerHeld(row: CheckpointRow | undefined): HeldInStore | undefined {
  if (row === undefined) return undefined;
  const file = row.files.find(({ name }) => name === 'tokenizer.json');
  return { prefix: row.prefix, ...(file && { sha256: file.sha256 }) };
}

/** Those of large models have some 20 MB. */
const mostBytes = 64 << 20;

/** What of the teacher's tokenizer is not the student's, to follow "its". */
export async function differenceOfTokenizers(
  store: ObjectStore,
  student: TokenizerHeld,
  teacher: HeldInStore,
): Promise<string | undefined> {
  const read = ({ prefix }: HeldInStore) => readJson(store, `${prefix}tokenizer.json`, mostBytes);
  if ('alphabet' in student) {
    const theirs = await read(teacher);
    if (theirs === undefined) return undefined;
    return vocabularyDifference(charactersVocabulary(student.alphabet), vocabularyOf(theirs));
  }
  if (student.prefix === teacher.prefix) return undefined;
  if (student.sha256 !== undefined && student.sha256 === teacher.sha256) return undefined;
  const ours = await read(student);
  const theirs = ours === undefined ? undefined : await read(teacher);
  return theirs === undefined ? undefined : tokenizerDifference(ours, theirs);
}

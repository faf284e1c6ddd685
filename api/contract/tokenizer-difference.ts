// Whether a teacher reads tokens as the student writes them: two tokenizer.json compared by what they mean. Another order of fields, merges
// as pairs or as text, defaults that one of them leaves out are no difference. Pure; the service asks where it reaches both files, the
// runner always.

type Json = Readonly<Record<string, unknown>>;

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Fields in order, and those left out whose absence means the same. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined && inner !== null && inner !== false && inner !== '')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, canonical(inner)]);
}

const same = (a: unknown, b: unknown): boolean =>
  JSON.stringify(canonical(a ?? null)) === JSON.stringify(canonical(b ?? null));

/** Words by id. Unigram lists its words with their scores, the others map them to ids. */
export function vocabularyOf(tokenizer: unknown): ReadonlyMap<string, number> {
  const { vocab } = objectOf(objectOf(tokenizer)['model']);
  if (Array.isArray(vocab))
    return new Map(vocab.map((entry: unknown, id) => [String(listOf(entry)[0]), id] as const));
  return new Map(Object.entries(objectOf(vocab)).map(([word, id]) => [word, Number(id)] as const));
}

const specialWords = ['<sep>', '<eos>', '<pad>', '<unk>'];

/** That of the `characters` tokenizer, as the runner makes it (runner/engine/tokenizer/characters.ts). */
export const charactersVocabulary = (alphabet: string): ReadonlyMap<string, number> =>
  new Map([...specialWords, ...alphabet].map((word, id) => [word, id]));

/** What a teacher's vocabulary is that the student's is not, to follow "its"; undefined where they are the same. */
export function vocabularyDifference(
  student: ReadonlyMap<string, number>,
  teacher: ReadonlyMap<string, number>,
): string | undefined {
  if (student.size !== teacher.size)
    return `vocabulary has ${teacher.size} words, that of the model ${student.size}`;
  for (const [word, id] of student) {
    const other = teacher.get(word);
    if (other === id) continue;
    const said = JSON.stringify(word.slice(0, 50));
    const theirs = other === undefined ? 'is not a word' : `has the id ${other}`;
    return `vocabulary is another: ${said} ${theirs} in it, and has the id ${id} in that of the model`;
  }
  return undefined;
}

/** `a b`, or the pair of both. */
const mergesOf = (model: Json): string[] =>
  listOf(model['merges']).map((merge) => (Array.isArray(merge) ? merge.join(' ') : String(merge)));

function mergesDifference(student: Json, teacher: Json): string | undefined {
  const [ours, theirs] = [mergesOf(student), mergesOf(teacher)];
  const at = ours.findIndex((merge, index) => merge !== theirs[index]);
  if (at < 0 && ours.length === theirs.length) return undefined;
  return `merges are others, from number ${at < 0 ? ours.length : at} (counted from 0) on`;
}

const addedOf = (tokenizer: Json): unknown[] =>
  listOf(tokenizer['added_tokens'])
    // Which tokens are special is told to those who show text: base and chat models of a family differ in it.
    .map((token) => ({ ...objectOf(token), special: undefined }))
    .toSorted((a, b) => Number(objectOf(a)['id']) - Number(objectOf(b)['id']));

function addedDifference(student: Json, teacher: Json): string | undefined {
  const [ours, theirs] = [addedOf(student), addedOf(teacher)];
  if (ours.length !== theirs.length)
    return `tokenizer has ${theirs.length} added tokens, that of the model ${ours.length}`;
  const at = ours.findIndex((token, index) => !same(token, theirs[index]));
  if (at < 0) return undefined;
  const told = (token: unknown) => JSON.stringify(token).slice(0, 200);
  return `added tokens are others: ${told(theirs[at])} stands for ${told(ours[at])}`;
}

/** What a teacher's tokenizer.json says that the student's does not, to follow "its"; undefined where they mean the same. */
export function tokenizerDifference(student: unknown, teacher: unknown): string | undefined {
  const [ours, theirs] = [objectOf(student), objectOf(teacher)];
  const [model, other] = [objectOf(ours['model']), objectOf(theirs['model'])];
  const parts = ['normalizer', 'pre_tokenizer'].find((part) => !same(ours[part], theirs[part]));
  return (
    vocabularyDifference(vocabularyOf(student), vocabularyOf(teacher)) ??
    addedDifference(ours, theirs) ??
    mergesDifference(model, other) ??
    settingsDifference(model, other) ??
    (parts === undefined ? undefined : `tokenizer has another ${parts} than that of the model`)
  );
}

/** Of `byte_fallback`, `ignore_merges` and the like. Old files do not say the type. */
function settingsDifference(ours: Json, theirs: Json): string | undefined {
  const types = [ours, theirs].every(({ type }) => type !== undefined);
  const field = Object.keys({ ...ours, ...theirs })
    .filter((key) => !['vocab', 'merges'].includes(key) && (key !== 'type' || types))
    .find((key) => !same({ [key]: ours[key] }, { [key]: theirs[key] }));
  if (field === undefined) return undefined;
  const said = (value: unknown) => JSON.stringify(value ?? null);
  return `tokenizer has ${field} ${said(theirs[field])}, that of the model ${said(ours[field])}`;
}

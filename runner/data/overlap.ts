// What two sets of texts share: the same text, or the same nine words in a row (the decontamination of Nemotron-Cascade,
// section 3). Words are runs of letters and digits, in lower case, so that layout and punctuation hide nothing. A text of fewer
// than nine words counts as one gram.

const GRAM = 9;
const EXAMPLES = 10;

export interface Overlap {
  /** Rows of the first set that share something with the second. */
  readonly rows: number;
  /** The first few: [row of the first set, row of the second]. */
  readonly examples: readonly (readonly [number, number])[];
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function gramsOf(words: readonly string[]): string[] {
  if (words.length <= GRAM) return words.length === 0 ? [] : [words.join(' ')];
  return Array.from({ length: words.length - GRAM + 1 }, (_, at) => words.slice(at, at + GRAM).join(' '));
}

/** Rows of `texts` that hold nine words in a row which `others` hold too. */
export function gramOverlap(texts: readonly string[], others: readonly string[]): Overlap {
  const rowOf = new Map<string, number>();
  const known = new Set<string>();
  others.forEach((text, row) => {
    const words = wordsOf(text);
    for (const word of words) known.add(word);
    for (const gram of gramsOf(words)) if (!rowOf.has(gram)) rowOf.set(gram, row);
  });
  return found(texts.map((text) => firstShared(wordsOf(text), rowOf, known)));
}

/** Most words of a training set are in no evaluated text: a gram is only made up where all its words are. */
function firstShared(
  words: readonly string[],
  rowOf: ReadonlyMap<string, number>,
  known: ReadonlySet<string>,
): number | undefined {
  if (words.length <= GRAM) return rowOf.get(words.join(' '));
  let run = 0;
  for (let at = 0; at < words.length; at++) {
    run = known.has(words[at]!) ? run + 1 : 0;
    if (run < GRAM) continue;
    const row = rowOf.get(words.slice(at + 1 - GRAM, at + 1).join(' '));
    if (row !== undefined) return row;
  }
  return undefined;
}

/** Rows of `texts` that are also in `others`, surrounding white space aside. */
export function sameTexts(texts: readonly string[], others: readonly string[]): Overlap {
  const rowOf = new Map([...others.entries()].reverse().map(([row, text]) => [text.trim(), row]));
  return found(texts.map((text) => rowOf.get(text.trim())));
}

function found(rows: readonly (number | undefined)[]): Overlap {
  const pairs = rows.flatMap((other, row) => (other === undefined ? [] : [[row, other] as const]));
  return { rows: pairs.length, examples: pairs.slice(0, EXAMPLES) };
}

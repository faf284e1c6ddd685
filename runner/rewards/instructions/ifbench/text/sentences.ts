// Sentences as Punkt finds them (Kiss & Strunk 2006, "Unsupervised Multilingual Sentence Boundary Detection"), which is how
// IFBench defines a sentence: only full stop, question mark and exclamation mark end one, a line break does not, and the
// number of a list item stands alone. Not the trained model: its abbreviations and its knowledge of which words open
// sentences are replaced by the two lists below. Linear in the length of the text.

const abbreviations = new Set(
  (
    'mr mrs ms dr prof rev gen col capt lt sgt gov sen rep hon st jr sr messrs mt ft ' +
    'inc corp co ltd bros assn dept univ est vs etc al cf viz approx ' +
    'jan feb mar apr jun jul aug sept sep oct nov dec mon tue tues wed thu thurs fri sat sun ' +
    'a.m p.m e.g i.e u.s u.k u.n u.s.a d.c n.y n.j l.a ph.d m.d b.a m.a b.sc m.sc b.c a.d p.s ' +
    'calif fla ala ariz ark colo conn ga ill ind kan ky mass md mich minn mo nev okla ore pa tenn tex va wash wis ' +
    'ave blvd rd fig vol pp ed eds'
  ).split(' '),
);

/** Words that, with a capital letter, begin a sentence even after an abbreviation. */
const openers = new Set(
  (
    'a an the i he she it we you they this that these those there here his her its our my your their ' +
    'in on at by for from with of to as if when while where what who why how which since because although though ' +
    'and but or so yet nor however then also still moreover meanwhile instead perhaps maybe no not some many most ' +
    'all each every both one let after before during until once just now is are was were do does did can could would'
  ).split(' '),
);

const after = new Set(')";}]*:@\'({[!?');
const isSpace = (character: string): boolean => /\s/.test(character);
/** No abbreviation is longer than this. */
const longestAbbreviation = 24;

/** The token that ends with the full stop at `stop`, without that stop. */
function tokenBefore(text: string, stop: number): string {
  const earliest = Math.max(0, stop - longestAbbreviation);
  let start = stop;
  while (start > earliest && !isSpace(text[start - 1]!) && !after.has(text[start - 1]!) && text[start - 1] !== ',')
    start--;
  return text.slice(start, stop);
}

const isAbbreviation = (token: string): boolean => {
  const lower = token.toLowerCase();
  return abbreviations.has(lower) || abbreviations.has(lower.slice(lower.lastIndexOf('-') + 1));
};

/** Whether the full stop at `stop`, followed by the text from `next`, ends its sentence. */
function stopEndsSentence(text: string, stop: number, next: number): boolean {
  const following = text.slice(next, next + longestAbbreviation);
  const opens = (): boolean => /^\p{Lu}/u.test(following) && openers.has(/^[\p{L}']+/u.exec(following)![0].toLowerCase());
  const token = tokenBefore(text, stop);
  if (token.endsWith('.')) return /^\p{Lu}/u.test(following);
  if (/^[^\W\d_]$/u.test(token)) return !/^[\p{L},;:.]/u.test(following) || opens();
  if (/^-?[.,]?\d[\d,.-]*$/.test(token)) return !/^[\p{Ll},;:.]/u.test(following);
  return isAbbreviation(token) ? opens() : true;
}

/** Index after the stop, question or exclamation mark that may end a sentence within the chunk, or -1. */
function possibleEnd(text: string, start: number, end: number, hasNext: boolean): number {
  for (let at = end - 1; at >= start; at--) {
    const isEnd = text[at] === '.' || text[at] === '?' || text[at] === '!';
    if (isEnd && (at + 1 < end ? after.has(text[at + 1]!) : hasNext)) return at + 1;
  }
  return -1;
}

/** Where sentences begin, quotes and brackets that close the one before still at their front. */
function starts(text: string): number[] {
  const found = [0];
  const spans = [...text.matchAll(/\S+/g)].map((match) => [match.index, match.index + match[0].length] as const);
  spans.forEach(([start, end], index) => {
    const nextChunk = spans[index + 1]?.[0];
    const stop = possibleEnd(text, start, end, nextChunk !== undefined);
    if (stop < 0) return;
    const next = stop < end ? stop : nextChunk!;
    if (text[stop - 1] !== '.' || stopEndsSentence(text, stop - 1, next)) found.push(next);
  });
  return found;
}

/** Length of the closing quotes and brackets that a line, or a word, does not follow. */
function closing(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && '"\')]}'.includes(text[at]!)) at++;
  return at === end || isSpace(text[at]!) || text.startsWith('--', at) ? at - start : 0;
}

/** The sentences of a text, trimmed; none where it is blank. */
export function sentences(text: string): string[] {
  const bounds = starts(text);
  const moved = bounds.map((start, index) =>
    index === 0 ? start : start + closing(text, start, bounds[index + 1] ?? text.length),
  );
  return moved.map((start, index) => text.slice(start, moved[index + 1]).trim()).filter((sentence) => sentence !== '');
}

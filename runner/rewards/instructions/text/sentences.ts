// Sentences of a text as the benchmarks count them: by rules that follow nltk's Punkt for English (Kiss and Strunk 2006,
// "Unsupervised multilingual sentence boundary detection") without its trained tables. Not Intl.Segmenter: it parts at line
// ends and knows no abbreviations. What that changes is listed in docs/graders/instructions.md.

/** Abbreviations that Punkt's English model knows and that responses use; lower case, without the last period. */
const abbreviations = new Set(
  (
    'mr mrs ms dr prof rev gen col sgt capt lt maj gov sen rep hon sr jr st messrs mme mlle ' +
    'inc ltd corp co bros cos plc vs etc e.g i.e cf al no nos vol fig approx dept univ assn ' +
    'jan feb mar apr aug sept sep oct nov dec a.m p.m u.s u.k u.n d.c n.y l.a a.d b.c ph.d m.d b.a m.a'
  ).split(' '),
);

/** Words that Punkt's tables know in lower case and at starts of sentences: after an abbreviation they begin a new one. */
const starters = new Set(
  (
    'the a an this that these those it he she we they i you his her its their our my your there here in on at by for from with as ' +
    'if when while after before since although because but and or so yet however moreover furthermore therefore thus also ' +
    'who what where why how which do does did is are was were can could should would will may might must not no all some any ' +
    'many most each every another other one two first second then now once only just even still'
  ).split(' '),
);

/** A sentence can end after `.`, `?` or `!` that white space, the text's end or other punctuation follows. */
const ending = /[.?!]+(?:["')\]}*”’]+)?(?=\s)/g;

/** Text without any end of a sentence is one sentence; blank text is none. Line ends alone part nothing. */
export function sentences(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  for (const match of text.matchAll(ending)) {
    const end = match.index + match[0].length;
    if (!endsSentence(text, start, match.index, match[0], end)) continue;
    found.push(text.slice(start, end).trim());
    start = end;
  }
  return [...found, text.slice(start).trim()].filter((sentence) => sentence !== '');
}

/** No word that decides is longer. */
const window = 64;

function endsSentence(text: string, start: number, at: number, mark: string, end: number): boolean {
  if (/[?!]/.test(mark)) return true;
  const next = /^\s*(\S+)/.exec(text.slice(end, end + window))?.[1] ?? '';
  const following = next.replace(/^["'([{*“‘]+/, '');
  const startsLower = /^\p{Lowercase}/u.test(following);
  const startsUpper = /^\p{Uppercase}/u.test(following);
  const starter = startsUpper && starters.has(following.toLowerCase().replace(/[^\p{L}].*$/su, ''));
  if (mark.startsWith('..')) return starter;
  const before = /\S*$/.exec(text.slice(Math.max(start, at - window), at))?.[0] ?? '';
  const word = before.replace(/^["'([{*“‘]+/, '').toLowerCase();
  if (/^\p{N}+$/u.test(word)) return !startsLower;
  if (/^\p{L}$/u.test(word)) return starter;
  return !abbreviations.has(word) || starter;
}

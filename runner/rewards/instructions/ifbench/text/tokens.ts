// Tokens in the manner of the Penn Treebank (tokenizer of Robert MacIntyre's sed script, as NLTK's word_tokenize has it):
// marks stand alone, contractions are parted ("do n't", "it 's"), a full stop is parted at the end of a sentence only.
// Linear in the length of the text.
import { chunks } from './words.ts';
import { sentences } from './sentences.ts';

const alone = /\.{2,}|--|''|``|[;@#$%&?!*[\](){}<>"«»“”‘’„`]/y;
/** What a word runs up to: a mark that stands alone, "..", "--", or a comma or colon that no digit follows. */
const word = /(?:(?!\.{2,}|--|'')[^;@#$%&?!*[\](){}<>"«»“”‘’„`,:]|[,:](?=\d))+|[,:']/y;
const contraction = /^(.*[^'])('s|'m|'d|'ll|'re|'ve|n't)$/is;
const merged: Readonly<Record<string, number>> = { cannot: 3, gimme: 3, gonna: 3, gotta: 3, lemme: 3, wanna: 3 };
/** No English contraction is longer; what is longer is not looked at twice. */
const longestWord = 60;

/** "it's" is "it" and "'s"; "cannot" is "can" and "not"; a closing apostrophe stands alone. */
function parted(token: string): string[] {
  if (token.length > longestWord) return [token];
  const at = merged[token.toLowerCase()];
  if (at !== undefined) return [token.slice(0, at), token.slice(at)];
  const parts = contraction.exec(token);
  if (parts !== null) return [parts[1]!, parts[2]!];
  if (token.length > 1 && token.endsWith("'")) return [...parted(token.slice(0, -1)), "'"];
  if (token.length > 2 && /^'\w/.test(token) && !/^'(?:re|ve|ll|m|t|s|d|n)/i.test(token)) return ["'", token.slice(1)];
  return [token];
}

function* ofChunk(chunk: string): Generator<string> {
  for (let at = 0; at < chunk.length; ) {
    const rule = [alone, word].find((candidate) => ((candidate.lastIndex = at), candidate.test(chunk)));
    const end = rule === undefined ? at + 1 : rule.lastIndex;
    const token = chunk.slice(at, end);
    if (rule === word) yield* parted(token);
    else yield token;
    at = end;
  }
}

/** The full stop that ends a sentence, before closing quotes and brackets, stands alone. */
function ofSentence(sentence: string): string[] {
  const tokens = chunks(sentence).flatMap((chunk) => [...ofChunk(chunk)]);
  let last = tokens.length - 1;
  while (last > 0 && /^(?:["'\])}>»”’*]|'')$/.test(tokens[last]!)) last--;
  const token = tokens[last];
  if (token !== undefined && token.length > 1 && /[^.]\.$/.test(token.slice(-2)))
    tokens.splice(last, 1, token.slice(0, -1), '.');
  return tokens;
}

export const tokens = (text: string): string[] => sentences(text).flatMap(ofSentence);

/** The first tokens of a text, without reading all of it. */
export const firstTokens = (text: string, limit = 2000): string[] => tokens(text.trimStart().slice(0, limit));

// Tokenizers of student and teacher: the same one however it is written, another one however alike it looks.
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import {
  charactersVocabulary,
  tokenizerDifference,
  vocabularyDifference,
  vocabularyOf,
} from '../../../api/contract/tokenizer-difference.ts';
import { charactersTokenizer } from '../../../runner/engine/tokenizer/characters.ts';
import { noTestData, testData, testDataDir } from '../../support/test-data.ts';

const added = (id: number, content: string, special = true) => ({ id, content, special, lstrip: false });
const bpe = (changes: object = {}, model: object = {}) => ({
  version: '1.0',
  added_tokens: [added(3, '<eos>'), added(4, '<pad>')],
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
  model: { type: 'BPE', vocab: { a: 0, b: 1, ab: 2 }, merges: ['a b'], dropout: null, ...model },
  ...changes,
});

describe('no difference', () => {
  test.each<[string, unknown]>([
    ['the same', bpe()],
    ['merges as pairs', bpe({}, { merges: [['a', 'b']] })],
    [
      'another order of fields',
      bpe({ model: { merges: ['a b'], vocab: { ab: 2, b: 1, a: 0 }, type: 'BPE' } }),
    ],
    ['defaults that are written out', bpe({}, { byte_fallback: false, unk_token: null, fuse_unk: false })],
    ['no type of the model, as old files have it', bpe({}, { type: undefined })],
    ['added tokens in another order', bpe({ added_tokens: [added(4, '<pad>'), added(3, '<eos>')] })],
    [
      'tokens that are special in one of them',
      bpe({ added_tokens: [added(3, '<eos>', false), added(4, '<pad>')] }),
    ],
    ['no normalizer at all', bpe({ normalizer: undefined })],
    [
      'another decoder, template and padding',
      bpe({ decoder: { type: 'Fuse' }, post_processor: {}, padding: {} }),
    ],
  ])('is %s', (_, teacher) => {
    expect(tokenizerDifference(bpe(), teacher)).toBeUndefined();
    expect(tokenizerDifference(teacher, bpe())).toBeUndefined();
  });
});

test.each<[string, unknown, RegExp]>([
  ['fewer words', bpe({}, { vocab: { a: 0, b: 1 } }), /^vocabulary has 2 words, that of the model 3$/],
  [
    'words changed about',
    bpe({}, { vocab: { b: 0, a: 1, ab: 2 } }),
    /"a" has the id 1 in it, and has the id 0/,
  ],
  ['other words', bpe({}, { vocab: { a: 0, b: 1, ba: 2 } }), /"ab" is not a word in it/],
  ['other merges', bpe({}, { merges: ['b a'] }), /^merges are others, from number 0/],
  ['more merges', bpe({}, { merges: ['a b', 'ab a'] }), /^merges are others, from number 1/],
  [
    'another added token',
    bpe({ added_tokens: [added(3, '</s>'), added(4, '<pad>')] }),
    /^added tokens are others: .*<\/s>.* stands for .*<eos>/,
  ],
  ['more added tokens', bpe({ added_tokens: [] }), /^tokenizer has 0 added tokens, that of the model 2$/],
  [
    'another kind of model',
    bpe({}, { type: 'WordPiece' }),
    /^tokenizer has type "WordPiece", that of the model "BPE"$/,
  ],
  [
    'another setting',
    bpe({}, { byte_fallback: true }),
    /^tokenizer has byte_fallback true, that of the model null$/,
  ],
  ['a normalizer', bpe({ normalizer: { type: 'NFC' } }), /^tokenizer has another normalizer/],
  [
    'another pre_tokenizer',
    bpe({ pre_tokenizer: { type: 'Whitespace' } }),
    /^tokenizer has another pre_tokenizer/,
  ],
  ['no tokenizer', 'text', /^vocabulary has 0 words/],
  ['nothing', null, /^vocabulary has 0 words/],
])('%s is a difference, in words', (_, teacher, words) => {
  expect(tokenizerDifference(bpe(), teacher)).toMatch(words);
  expect(tokenizerDifference(teacher, bpe())).toBeDefined();
});

it('reads the words of a list with scores, and words that every object has', () => {
  const unigram = (...words: [string, number][]) => ({ model: { type: 'Unigram', vocab: words } });
  expect(tokenizerDifference(unigram(['a', -1]), unigram(['a', -2]))).toBeUndefined();
  expect(tokenizerDifference(unigram(['a', -1], ['b', -2]), unigram(['b', -1], ['a', -2]))).toMatch(/"a"/);
  const odd: unknown = JSON.parse('{"model":{"vocab":{"__proto__":0,"constructor":1}}}');
  expect([...vocabularyOf(odd)]).toEqual([
    ['__proto__', 0],
    ['constructor', 1],
  ]);
});

it('knows the words of a characters tokenizer as the runner writes them', () => {
  const words = (alphabet: string) => vocabularyOf(JSON.parse(charactersTokenizer(alphabet).tokenizer));
  expect([...charactersVocabulary('ab😀')]).toEqual([...words('ab😀')]);
  expect(vocabularyDifference(charactersVocabulary('ab'), words('ab'))).toBeUndefined();
  expect(vocabularyDifference(charactersVocabulary('ab'), words('ba'))).toMatch(/"a" has the id 5 in it/);
});

test.skipIf(testDataDir === undefined)(`a real one is its own (${noTestData} where skipped)`, () => {
  const whole: unknown = JSON.parse(readFileSync(testData('stories260K/hf/tokenizer.json'), 'utf8'));
  expect(vocabularyOf(whole).size).toBeGreaterThan(500);
  expect(tokenizerDifference(whole, structuredClone(whole))).toBeUndefined();
});

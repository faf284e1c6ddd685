// What the instructions count: words, sentences, tokens. Expected values are those of nltk 3.10 with Punkt's English model, except
// where the test says otherwise.
import { describe, expect, it } from 'vitest';
import { sentences } from '../../../runner/rewards/instructions/text/sentences.ts';
import { capitalTokens, treebankTokens } from '../../../runner/rewards/instructions/text/tokens.ts';
import {
  hasWord,
  isLower,
  isUpper,
  occurrences,
  words,
} from '../../../runner/rewards/instructions/text/words.ts';

describe('sentences', () => {
  it.each([
    [['One.', 'Two!', 'Three?']],
    [['Line one', 'still line one.', 'Two'], ' ', ['Line one still line one.', 'Two']],
    [['Line one\n\nstill line one.', 'Two.']],
    [['Dr. Smith met Mr. Jones at 5 p.m. in Washington D.C. on Jan. 3.', 'He left.']],
    [['He left at 5 p.m.', 'He stayed.']],
    [['He left at 5 p.m. She stayed.']],
    [['It costs 3.50 dollars.', 'See v2.1.0 or example.com.']],
    [['1.', 'Walk.', '2.', '**Run**.']],
    [['in 1990. we', 'x'], ' ', ['in 1990. we x']],
    [['Wait... what?', 'Yes.']],
    [['Wait... What?']],
    [['Wait...', 'Silence.']],
    [['He said "Stop."', 'Then he ran.']],
    [['(It was so.)', 'It is.']],
    [['Really?!', 'Yes!!!', 'So.']],
    [['I met J.K. Rowling and J. Smith.']],
    [['no end']],
    [[], ' ', []],
  ] as [string[], string?, string[]?][])('%j', (given, separator = ' ', expected = given) => {
    expect(sentences(given.join(separator))).toEqual(expected);
  });

  it('end after "e.g.", "etc." and "P.S.", which Punkt does not know', () => {
    expect(sentences('Take fruit, e.g. pears.')).toHaveLength(2);
    expect(sentences('P.S. Write soon.')).toHaveLength(2);
  });

  it('are one more where several marks end the text, as nltk counts', () => {
    expect(sentences('Yes!!!')).toEqual(['Yes!!', '!']);
  });

  it('are told by no trained words: after a letter with a period only an item of a list, or a common word, begins one', () => {
    expect(sentences('A. Walks\nB. Runs')).toEqual(['A.', 'Walks\nB.', 'Runs']);
    expect(sentences('Plan A. The rest.')).toEqual(['Plan A.', 'The rest.']);
    expect(sentences('Plan A. Walks')).toEqual(['Plan A. Walks']);
  });
});

describe('tokens', () => {
  it.each([
    ["I don't know, Bob's dog.", ['I', 'do', "n't", 'know', ',', 'Bob', "'s", 'dog', '.']],
    [
      'Well-known U.S. "firms" (all): 1,000 at 5:30.',
      ['Well-known', 'U.S.', '"', 'firms', '"', '(', 'all', ')', ':', '1,000', 'at', '5:30', '.'],
    ],
    [
      'R&D costs $5... so we cannot!',
      ['R', '&', 'D', 'costs', '$', '5', '...', 'so', 'we', 'can', 'not', '!'],
    ],
    ['One. Two.', ['One', '.', 'Two', '.']],
    ['It’s “so” -- they’ll go', ['It', '’', 's', '“', 'so', '”', '--', 'they', '’', 'll', 'go']],
  ])('%s', (text, expected) => {
    expect(treebankTokens(text)).toEqual(expected);
  });

  it('of capitals are those of all tokens whose letters are capitals', () => {
    for (const text of ["WE DON'T, I said: R&D (NASA) in the U.S. A1 Aa 12 ÉTÉ!", 'x', ''])
      expect(capitalTokens(text)).toEqual(treebankTokens(text).filter(isUpper));
  });
});

describe('words', () => {
  it('are runs of letters, marks, digits and underscores; in Python marks are none, so "नमस्ते" would be three', () => {
    expect(words("It's snake_case, 3 well-known naïve नमस्ते.")).toEqual([
      'It',
      's',
      'snake_case',
      '3',
      'well',
      'known',
      'naïve',
      'नमस्ते',
    ]);
  });

  it.each([
    ['a can b', 'can', true],
    ['candle', 'can', false],
    ['pecan', 'can', false],
    ['candle can', 'can', true],
    ['éclair', 'clair', false],
    ['😀can😀', 'can', true],
    ['𝒜can', 'can', false],
    ['c++', 'c++', false],
    ['', 'can', false],
  ])('in %j: %j stands alone: %s', (text, needle, expected) => {
    expect(hasWord(text, needle)).toBe(expected);
  });

  it('are counted without overlap', () => {
    expect([occurrences('aaaa', 'aa'), occurrences('', 'a'), occurrences('abcab', 'ab')]).toEqual([2, 0, 2]);
  });

  it.each([
    ['ABC 1!', true, false],
    ['abc 1!', false, true],
    ['Abc', false, false],
    ['123', false, false],
    ['ǅ', false, false],
    ['日本', false, false],
  ])('%s: upper %s, lower %s', (text, upper, lower) => {
    expect([isUpper(text), isLower(text)]).toEqual([upper, lower]);
  });
});

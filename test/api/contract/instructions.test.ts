// Rows of instructions: what registration refuses, where it points and what it says. Whatever is refused here could otherwise
// only become a silent pass or a crash while training.
import { describe, expect, it } from 'vitest';
import {
  givenArguments,
  instructionArguments,
  instructionFaults,
} from '../../../api/contract/instructions/arguments.ts';
import { ifevalArguments } from '../../../api/contract/instructions/ifeval.ts';
import { issuesOf } from '../../../api/contract/issues.ts';
import { instructionRow } from '../../../api/contract/task.ts';
import { ifevalExamples } from '../../rewards/instructions/ifeval-examples.ts';

type Kwargs = Record<string, unknown>;
const row = (ids: string[], kwargs: Kwargs[]) => ({ prompt: 'p', instruction_id_list: ids, kwargs });

function faultsOf(ids: string[], kwargs: Kwargs[]): [string, string][] {
  const parsed = instructionRow.safeParse(row(ids, kwargs));
  return parsed.success ? [] : issuesOf(parsed.error).map(({ pointer, message }) => [pointer, message]);
}

const words = 'length_constraints:number_words';

describe('a row of instructions', () => {
  it('keeps its records as they were given', () => {
    const given = row(
      ['punctuation:no_comma', words],
      [{ num_words: null }, { relation: 'at least', num_words: 3, n: null }],
    );
    expect(instructionRow.parse(given)).toEqual(given);
    expect(givenArguments(given.kwargs[1] ?? {})).toEqual({ relation: 'at least', num_words: 3 });
  });

  it.each<[string, string[], Kwargs[], string, RegExp]>([
    [
      'an unknown id',
      ['punctuation:no_commas'],
      [{}],
      '/instruction_id_list/0',
      /"punctuation:no_commas".*"punctuation:no_comma"/,
    ],
    ['an id of the prototype', ['toString'], [{}], '/instruction_id_list/0', /"toString"/],
    [
      'an unknown relation',
      [words],
      [{ relation: 'at most', num_words: 3 }],
      '/kwargs/0/relation',
      /number_words.*"less than"\|"at least"/,
    ],
    [
      'a missing argument',
      ['punctuation:no_comma', words],
      [{}, { num_words: 3 }],
      '/kwargs/1/relation',
      /number_words: must be given.*num_words, relation/,
    ],
    [
      'a null for an argument',
      [words],
      [{ relation: null, num_words: 3 }],
      '/kwargs/0/relation',
      /must be given/,
    ],
    [
      'a surplus argument',
      ['punctuation:no_comma'],
      [{ num_words: 3 }],
      '/kwargs/0/num_words',
      /no_comma takes no "num_words": it takes no arguments/,
    ],
    [
      'an argument under another name',
      ['keywords:letter_frequency'],
      [{ letter: 'a', frequency: 2, let_relation: 'at least' }],
      '/kwargs/0/let_frequency',
      /must be given/,
    ],
    [
      'too few records',
      [words, 'punctuation:no_comma'],
      [{ relation: 'at least', num_words: 3 }],
      '/kwargs',
      /1 records for 2 ids/,
    ],
    ['too many records', ['punctuation:no_comma'], [{}, {}], '/kwargs', /2 records for 1 ids/],
    ['a count of 0', [words], [{ relation: 'less than', num_words: 0 }], '/kwargs/0/num_words', />0/],
    ['half a word', [words], [{ relation: 'less than', num_words: 2.5 }], '/kwargs/0/num_words', /int/],
    [
      'a number in words',
      [words],
      [{ relation: 'less than', num_words: '3' }],
      '/kwargs/0/num_words',
      /number/,
    ],
    [
      'two letters',
      ['keywords:letter_frequency'],
      [{ letter: 'ab', let_frequency: 2, let_relation: 'at least' }],
      '/kwargs/0/letter',
      /one character/,
    ],
    ['no keywords', ['keywords:existence'], [{ keywords: [] }], '/kwargs/0/keywords', />=1/],
    ['a blank keyword', ['keywords:existence'], [{ keywords: ['a', ' '] }], '/kwargs/0/keywords/1', /blank/],
    [
      'a language that is not asked for',
      ['language:response_language'],
      [{ language: 'tlh' }],
      '/kwargs/0/language',
      /"en"\|"es"/,
    ],
    [
      'a paragraph after the last',
      ['length_constraints:nth_paragraph_first_word'],
      [{ num_paragraphs: 2, nth_paragraph: 3, first_word: 'a' }],
      '/kwargs/0/nth_paragraph',
      /num_paragraphs/,
    ],
  ])('with %s is refused with its place', (_what, ids, kwargs, pointer, message) => {
    const faults = faultsOf(ids, kwargs);
    expect(faults.map(([place]) => place)).toContain(pointer);
    expect(faults.find(([place]) => place === pointer)?.[1]).toMatch(message);
  });

  it('names every fault at once', () => {
    expect(
      faultsOf(['x', words], [{}, { n: 1 }])
        .map(([pointer]) => pointer)
        .sort(),
    ).toEqual(['/instruction_id_list/0', '/kwargs/1/n', '/kwargs/1/num_words', '/kwargs/1/relation']);
  });

  it('is not burdened by an id or a record of absurd length', () => {
    const [fault] = instructionFaults(row(['x'.repeat(1_000_000)], [{}]));
    expect(fault?.message.length).toBeLessThan(300);
  });
});

describe('each of IFEval’s instructions', () => {
  const relations = ['relation', 'let_relation', 'capital_relation'];
  it.each(Object.entries(ifevalExamples))(
    '%s refuses what is missing, surplus or of no known relation',
    (id, [{ args }]) => {
      const given: Kwargs = { ...args };
      expect(faultsOf([id], [given])).toEqual([]);
      expect(faultsOf([id], [{ ...given, surplus: 1 }]).map(([pointer]) => pointer)).toEqual([
        '/kwargs/0/surplus',
      ]);
      expect(faultsOf([id], [{ ...given, surplus: null }])).toEqual([]);
      for (const name of Object.keys(given)) {
        const missing = faultsOf([id], [{ ...given, [name]: null }]);
        expect(missing.map(([pointer]) => pointer)).toEqual([`/kwargs/0/${name}`]);
        expect(missing[0]?.[1]).toContain(`${id}: must be given`);
      }
      for (const relation of relations.filter((one) => one in given))
        for (const unknown of ['at most', 'exactly', 'Less than', ''])
          expect(faultsOf([id], [{ ...given, [relation]: unknown }]).map(([pointer]) => pointer)).toEqual([
            `/kwargs/0/${relation}`,
          ]);
    },
  );

  it('has one id in all taxonomies together', () => {
    expect(Object.keys(ifevalArguments)).toHaveLength(25);
    expect(Object.keys(instructionArguments)).toEqual(expect.arrayContaining(Object.keys(ifevalArguments)));
  });
});

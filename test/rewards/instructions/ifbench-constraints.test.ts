// Each of IFBench's 58 constraints on responses that follow it and responses that do not; arguments that no row may have.
import { describe, expect, it } from 'vitest';
import { ifbenchArguments } from '../../../api/contract/instructions/ifbench.ts';
import type { IfbenchId } from '../../../api/contract/instructions/ifbench.ts';
import { verdicts } from '../../../runner/rewards/instructions/verdicts.ts';
import { ifbenchCases } from './ifbench-cases.ts';

const follows = (id: IfbenchId, kwargs: object, response: string): boolean | undefined =>
  verdicts(
    { prompt: 'Do it.', instruction_id_list: [id], kwargs: [{ ...kwargs, unused: null }] },
    response,
    'strict',
  )[0];

const ids = Object.keys(ifbenchArguments) as IfbenchId[];

describe('every constraint has responses of both kinds', () => {
  it('are 58', () => expect(ids).toHaveLength(58));

  it.each(ids)('%s', (id) => {
    const { args, followed, broken } = ifbenchCases[id];
    expect(followed.length * broken.length).toBeGreaterThan(0);
    expect(followed.filter((response) => !follows(id, args, response))).toEqual([]);
    expect(broken.filter((response) => follows(id, args, response))).toEqual([]);
  });
});

describe('lettered options are copied exactly', () => {
  const options = { options: 'a), b), c), d)' };
  it.each(['b)', ' d)\n'])('%j follows', (response) =>
    expect(follows('format:options', options, response)).toBe(true),
  );
  it.each(['b', 'd).', 'B)'])('%j does not', (response) =>
    expect(follows('format:options', options, response)).toBe(false),
  );
  it('"or" parts options only as a word', () => {
    expect(follows('format:options', { options: 'orange, apple' }, 'Orange')).toBe(true);
    expect(follows('format:options', { options: "I know or I don't know" }, "I don't know.")).toBe(true);
  });
});

describe('arguments that no response could satisfy, and arguments too many or too few, are refused', () => {
  it.each<[IfbenchId, object]>([
    ['count:conjunctions', { small_n: 8 }],
    ['count:conjunctions', {}],
    ['count:person_names', { N: 51 }],
    ['count:numbers', { N: 1.5 }],
    ['count:numbers', { N: '3' }],
    ['count:numbers', { N: 3, small_n: 3 }],
    ['count:punctuation', { N: 3 }],
    ['count:word_count_range', { min_words: 9, max_words: 8 }],
    ['count:words_japanese', { N: 0 }],
    [
      'count:keywords_multiple',
      { keyword1: 'a', keyword2: 'A ', keyword3: 'c', keyword4: 'd', keyword5: 'e' },
    ],
    ['format:options', { options: 'yes' }],
    ['format:options', { options: 'yes//no' }],
    ['format:list', { sep: ' ' }],
    ['ratio:overlap', { percentage: 50 }],
    ['ratio:stop_words', { percentage: 101 }],
    ['repeat:repeat_span', { prompt_to_repeat: 'three words here', n_start: 0, n_end: 3 }],
    ['repeat:repeat_span', { prompt_to_repeat: 'three words here', n_start: 2, n_end: 1 }],
    ['sentence:keyword', { word: 'cat', N: 0 }],
    ['words:words_position', { keyword: 'two words' }],
  ])('%s %j', (id, kwargs) => expect(ifbenchArguments[id].safeParse(kwargs).success).toBe(false));
});

// The instructions grader: all instructions or nothing, strict and loose, what is judged of a response that thinks.
import { describe, expect, it } from 'vitest';
import type { InstructionRow } from '../../../api/contract/task.ts';
import { createGrader } from '../../../runner/rewards/grade.ts';
import { looseReadings } from '../../../runner/rewards/instructions/loose.ts';
import { means } from '../../support/means.ts';
import { verdicts } from '../../../runner/rewards/instructions/verdicts.ts';

const strict = createGrader({ type: 'instructions', check: 'strict' }, means);
const loose = createGrader({ type: 'instructions', check: 'loose' }, means);

const row: InstructionRow = {
  prompt: 'Say it shortly.',
  instruction_id_list: ['punctuation:no_comma', 'length_constraints:number_words', 'punctuation:no_comma'],
  kwargs: [{}, { relation: 'less than', num_words: 5, num_sentences: null }, {}],
};

describe('grade', () => {
  it('is 1 where every instruction is followed, with one part each', async () => {
    expect(await strict.grade(row, 'So it is.')).toEqual({
      status: 'scored',
      value: 1,
      parts: {
        '0:punctuation:no_comma': 1,
        '1:length_constraints:number_words': 1,
        '2:punctuation:no_comma': 1,
      },
    });
  });

  it('is 0 where one is missed, and says which', async () => {
    expect(await strict.grade(row, 'So it is and so it will be.')).toEqual({
      status: 'scored',
      value: 0,
      parts: {
        '0:punctuation:no_comma': 1,
        '1:length_constraints:number_words': 0,
        '2:punctuation:no_comma': 1,
      },
      detail: 'not followed: 1:length_constraints:number_words',
    });
  });

  it('judges only what stands after the thinking block', async () => {
    const answer = '<think>Well, no, it may, after all, be so.</think>So it is.';
    expect(await strict.grade(row, answer)).toMatchObject({ value: 1 });
    expect(await strict.grade(row, `${answer} So, it is.`)).toMatchObject({ value: 0 });
  });

  it('has no answer where thinking never ended', async () => {
    expect(await strict.grade(row, '<think>So it is.')).toEqual({
      status: 'invalid',
      code: 'no_answer',
      value: 0,
    });
  });

  it.each([
    '',
    '  \n',
    '<think>Hm.</think>\n',
    '\u200b',
    '\u2060\n\u00ad',
    '\u3164',
    '<think>Hm.</think>\u2800',
  ])('of a response without text (%j) is 0, loose too', async (response) => {
    for (const grader of [strict, loose]) {
      const reward = await grader.grade(row, response);
      expect(reward).toMatchObject({ status: 'scored', value: 0 });
      expect(reward.status === 'scored' && Object.values(reward.parts)).toEqual([0, 0, 0]);
    }
  });

  it('knows the greatest reward and no gold: such rows are unproven', () => {
    expect([strict.maxScore(row), strict.goldResponse(row)]).toEqual([1, undefined]);
  });

  it('never passes a row that registration would have refused', async () => {
    const unknown = { ...row, instruction_id_list: ['keywords:unknown'], kwargs: [{}] };
    const lacking = { ...row, instruction_id_list: ['keywords:existence'], kwargs: [{}] };
    const relation = {
      ...row,
      instruction_id_list: ['length_constraints:number_words'],
      kwargs: [{ relation: 'at most', num_words: 5 }],
    };
    for (const broken of [unknown, lacking, relation])
      expect(await strict.grade(broken, 'x')).toMatchObject({ status: 'unscored', code: 'verifier_down' });
  });
});

describe('loose', () => {
  it('reads the response eight ways, the same way once', () => {
    expect(looseReadings('Sure:\n*a*\n*b*\nBye *c*').sort()).toEqual(
      [
        'Sure:\n*a*\n*b*\nBye *c*',
        'Sure:\na\nb\nBye c',
        '*a*\n*b*\nBye *c*',
        'a\nb\nBye c',
        'Sure:\n*a*\n*b*',
        'Sure:\na\nb',
        '*a*\n*b*',
        'a\nb',
      ].sort(),
    );
    expect(looseReadings('one line')).toEqual(['one line', '']);
  });

  it('lets each instruction choose its reading', async () => {
    const asked: InstructionRow = {
      prompt: 'p',
      instruction_id_list: ['startend:quotation', 'startend:end_checker', 'detectable_format:json_format'],
      kwargs: [{}, { end_phrase: 'Bye.' }, {}],
    };
    const response = 'Sure, here it is:\n"text"\n*Bye.*';
    expect(verdicts(asked, response, 'strict')).toEqual([false, false, false]);
    expect(verdicts(asked, response, 'loose')).toEqual([true, true, true]);
    expect(await loose.grade(asked, response)).toMatchObject({ value: 1 });
    expect(await strict.grade(asked, response)).toMatchObject({ value: 0 });
  });

  it('does not judge a reading in which nothing is left', () => {
    const asked = { prompt: 'p', instruction_id_list: ['punctuation:no_comma'], kwargs: [{}] };
    expect(verdicts(asked, 'a, b', 'loose')).toEqual([false]);
  });
});

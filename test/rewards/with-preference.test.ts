// Instruction following beside a reward model's score of the same answer: what is asked of whom, and whose fault counts.
import { expect, it } from 'vitest';
import { createGrader } from '../../runner/rewards/grade.ts';
import { createMeans } from '../../runner/rewards/means.ts';
import type { AnswerToScore, ScoreAnswers } from '../../runner/rewards/preference.ts';
import { withPreference } from '../../runner/rewards/with-preference.ts';

const model = `ckpt_${'r'.repeat(20)}`;
const row = {
  prompt: 'Say it without commas.',
  instruction_id_list: ['punctuation:no_comma'],
  kwargs: [{}],
};

function combined(score: ScoreAnswers) {
  const means = createMeans({ rewardModels: new Map([[model, score]]) });
  return withPreference(
    createGrader({ type: 'instructions', check: 'strict' }, means),
    createGrader({ type: 'preference', model }, means),
  );
}

it('keeps the value of the instructions and names both scores among the parts', async () => {
  const asked: AnswerToScore[] = [];
  const verifier = combined((items) => {
    asked.push(...items);
    return Promise.resolve(items.map(({ answer }) => ({ value: -answer.length })));
  });
  const [follows, misses] = await Promise.all([
    verifier.grade(row, '<think>well, well, well</think>\n\nso be it'),
    verifier.grade(row, 'so, be it'),
  ]);
  expect(follows).toMatchObject({
    status: 'scored',
    value: 1,
    parts: { '0:punctuation:no_comma': 1, instructions: 1, preference: -8 },
  });
  expect(misses).toMatchObject({ status: 'scored', value: 0, parts: { instructions: 0, preference: -9 } });
  // Only what stands after the thinking, and both rollouts in one batch.
  expect(asked.map(({ answer }) => answer)).toEqual(['so be it', 'so, be it']);
});

it('is unscored where the reward model failed, and invalid where there is no answer, whatever the model did', async () => {
  const broken = combined(() => Promise.reject(new Error('out of memory')));
  expect(await broken.grade(row, 'so be it')).toMatchObject({ status: 'unscored', code: 'verifier_down' });
  expect(await broken.grade(row, '<think>and on')).toMatchObject({ status: 'invalid', code: 'no_answer' });
  const none = combined(() => Promise.resolve([{ value: NaN }]));
  expect(await none.grade(row, 'so be it')).toMatchObject({ status: 'unscored' });
});

// The preference grader with a scripted model: what it is asked, in which batches, and that its failures are never a score.
import { expect, test } from 'vitest';
import type { AnswerToScore, ModelScore } from '../../runner/rewards/preference.ts';
import { preferenceVerifier } from '../../runner/rewards/preference.ts';

const row = { prompt: 'Say hello' };

function scripted(score: (item: AnswerToScore) => ModelScore) {
  const batches: AnswerToScore[][] = [];
  let running = 0;
  const verifier = preferenceVerifier(async (items) => {
    expect(++running).toBe(1);
    batches.push([...items]);
    await new Promise(setImmediate);
    running--;
    return items.map(score);
  });
  return { batches, verifier };
}

test('the raw value, of the text after the thinking', async () => {
  const { batches, verifier } = scripted(() => ({ value: -3.5 }));
  expect(await verifier.grade(row, '<think>hm</think>\n\nHello')).toEqual({
    status: 'scored',
    value: -3.5,
    parts: {},
  });
  expect(await verifier.grade(row, '<think>endless')).toMatchObject({ status: 'scored' });
  expect(await verifier.grade(row, 'Hello')).toMatchObject({ status: 'scored' });
  expect(batches.flat()).toEqual([
    { ...row, answer: 'Hello' },
    { ...row, answer: '<think>endless' },
    { ...row, answer: 'Hello' },
  ]);
});

test('answers of one turn go together, 64 at a time, one batch after the other, each with its own value', async () => {
  const { batches, verifier } = scripted(({ answer }) => ({ value: Number(answer) }));
  const rewards = await Promise.all(Array.from({ length: 150 }, (_, i) => verifier.grade(row, String(i))));
  expect(rewards.map((reward) => 'value' in reward && reward.value)).toEqual([...rewards.keys()]);
  expect(batches.map(({ length }) => length)).toEqual([64, 64, 22]);
});

test.each([
  ['NaN', { value: Number.NaN }, /said NaN/],
  ['infinite', { value: Infinity }, /said Infinity/],
  ['a fault', { fault: 'the prompt is too long' }, /the prompt is too long/],
])('what is no number is our fault: %s', async (_, score, detail) => {
  const { verifier } = scripted(({ answer }) => (answer === 'bad' ? score : { value: 1 }));
  const [bad, good] = await Promise.all([verifier.grade(row, 'bad'), verifier.grade(row, 'good')]);
  expect(bad).toEqual({
    status: 'unscored',
    code: 'verifier_down',
    detail: expect.stringMatching(detail) as string,
  });
  expect(good).toMatchObject({ status: 'scored', value: 1 });
});

test('a model that fails leaves all of its batch unscored, and the next is asked', async () => {
  let calls = 0;
  const verifier = preferenceVerifier(async (items) => {
    if (++calls === 1) throw new Error('out of memory');
    return items.map(() => ({ value: 1 }));
  });
  const failed = {
    status: 'unscored',
    code: 'verifier_down',
    detail: 'the reward model failed: out of memory',
  };
  expect(await Promise.all([verifier.grade(row, 'a'), verifier.grade(row, 'b')])).toEqual([failed, failed]);
  expect(await verifier.grade(row, 'c')).toMatchObject({ status: 'scored' });
});

test('a cut answer is scored, and said', async () => {
  const { verifier } = scripted(() => ({ value: 1, cutFrom: 900 }));
  expect(await verifier.grade(row, 'long')).toMatchObject({
    value: 1,
    detail: expect.stringContaining('900 tokens') as string,
  });
});

test('no row has a gold: nothing is the most that a reward model can say', () => {
  const { verifier } = scripted(() => ({ value: 1 }));
  expect([verifier.maxScore(row), verifier.goldResponse(row)]).toEqual([Infinity, undefined]);
});

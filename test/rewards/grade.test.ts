// What every grader has in common, whatever it grades.
import { expect, it, vi } from 'vitest';
import { guarded } from '../../runner/rewards/grade.ts';
import { invalid, scored } from '../../runner/rewards/reward.ts';

it('what a verifier throws is unscored: one rollout, and not the trainer', async () => {
  const error = vi.spyOn(console, 'error').mockReturnValue();
  const { grade } = guarded({
    grade: () => Promise.reject(new Error('a mistake of ours')),
    maxScore: () => 1,
    goldResponse: () => undefined,
  });
  expect(await grade({ prompt: 'p', answer: '1' }, 'x')).toEqual({
    status: 'unscored',
    code: 'verifier_down',
    detail: 'the verifier failed: a mistake of ours',
  });
  expect(error).toHaveBeenCalledOnce();
  error.mockRestore();
});

const beyond = [scored(1e101), scored(0, { part: -1e200 })];
it.each([scored(NaN), scored(1, { part: Infinity }), invalid('unparsable', NaN), ...beyond])(
  'a value that is no number, or so large that its square is none, is our fault: %j',
  async (reward) => {
    const verifier = { grade: async () => reward, maxScore: () => 1, goldResponse: () => undefined };
    expect(await guarded(verifier).grade({ prompt: 'p', answer: '1' }, 'x')).toMatchObject({
      status: 'unscored',
      code: 'verifier_down',
    });
  },
);

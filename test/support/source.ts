// A source of tasks for tests of what happens after sampling: no rows are drawn from it.
import type { Task } from '../../api/contract/task.ts';
import type { Source } from '../../runner/cascade/rl/source.ts';
import { guarded } from '../../runner/rewards/grade.ts';

export const sourceOf = (rows: readonly Task[], changes: Partial<Source> = {}): Source => ({
  pointer: '',
  domain: 'math',
  data: `ds_${'m'.repeat(24)}`,
  grader: { type: 'exact' },
  weight: 1,
  mode: undefined,
  languageMixing: 'off',
  rewardModel: undefined,
  rows,
  verifier: guarded({
    grade: () => Promise.reject(new Error('nothing of this source is graded')),
    maxScore: () => 1,
    goldResponse: () => undefined,
  }),
  prompts: new Map(),
  ...changes,
});

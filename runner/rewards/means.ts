// What graders score with beside the rows: passed in by the process that grades.
import type { ScoreAnswers } from './preference.ts';

export interface Means {
  /** By checkpoint id. */
  readonly rewardModels?: ReadonlyMap<string, ScoreAnswers>;
  /** Where secrets and the permission for private addresses are looked up; default: the process's own. */
  readonly env?: NodeJS.ProcessEnv;
}

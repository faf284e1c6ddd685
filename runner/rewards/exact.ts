// 1 where the response is the gold answer, surrounding white space aside.
import type { Reward } from './reward.ts';
import { scored } from './reward.ts';

export const exactReward = (gold: string, response: string): Reward =>
  scored(response.trim() === gold.trim() ? 1 : 0);

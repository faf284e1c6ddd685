// Graders that are down: what waits, what is asked again, what ends the wait. The clock is the test's.
import { describe, expect, it } from 'vitest';
import type { Entry } from '../../api/contract/event.ts';
import type { MathRow, Task } from '../../api/contract/task.ts';
import { gradeGroups } from '../../runner/cascade/grading.ts';
import { judge } from '../../runner/cascade/rl/judge.ts';
import type { OutagePolicy } from '../../runner/cascade/outage.ts';
import { RewardUnavailable } from '../../runner/cascade/outage.ts';
import { applyPenalties } from '../../runner/cascade/rl/penalties.ts';
import type { Rollout } from '../../runner/cascade/rollout.ts';
import { scored, unscored } from '../../runner/rewards/reward.ts';
import type { Verifier } from '../../runner/rewards/verifier.ts';

const place = { stage: 'math', step: 3, suite: null };
const tasks: MathRow[] = ['a', 'b'].map((answer) => ({ prompt: answer, answer }));
const rollout = (text: string): Rollout => ({
  prompt: Int32Array.of(1),
  response: Int32Array.of(1),
  logProbs: Float32Array.of(-1),
  truncated: false,
  text,
});
const groups = [1, 2].map((p) => [1, 2, 3, 4, 5].map((g) => rollout(`${p}${g}`)));

interface Run {
  readonly entries: Entry[];
  readonly asked: string[];
  readonly seconds: () => number;
  readonly outage: OutagePolicy;
  readonly verifier: Verifier<Task>;
}

/** `isDown(text, seconds)`: what cannot be scored at that time. */
function given(isDown: (text: string, seconds: number) => boolean, unscored_at_most = 0.1): Run {
  let ms = 0;
  const entries: Entry[] = [];
  const asked: string[] = [];
  return {
    entries,
    asked,
    seconds: () => ms / 1000,
    outage: {
      rewards: { unscored_at_most, timeout: '30m', otherwise: 'pause' },
      clock: { now: () => ms, wait: async (wait) => void (ms += wait) },
      emit: (entry) => void entries.push(entry),
      alive: () => undefined,
    },
    verifier: {
      grade: async (_task, text) => {
        asked.push(text);
        return isDown(text, ms / 1000) ? unscored('sandbox_down', 'no sandbox') : scored(Number(text));
      },
      maxScore: () => 1,
      goldResponse: () => undefined,
    },
  };
}
const grade = (run: Run) => gradeGroups(run.verifier, tasks, groups, place, run.outage);

describe('grading through an outage', () => {
  it('asks once where all is scored, and keeps groups and order', async () => {
    const run = given(() => false);
    expect((await grade(run)).map((group) => group.map(({ reward }) => reward))).toEqual([
      [11, 12, 13, 14, 15],
      [21, 22, 23, 24, 25],
    ]);
    expect(run.asked).toHaveLength(10);
    expect(run.entries).toEqual([]);
  });

  it('nine of ten down for a minute: waits, asks about those nine alone, goes on with every reward', async () => {
    const run = given((text, seconds) => text !== '11' && seconds < 60);
    const graded = await grade(run);
    expect(graded.flat().every(({ reward }) => reward !== null)).toBe(true);
    expect(run.asked.filter((text) => text === '11')).toHaveLength(1);
    expect(run.seconds()).toBeGreaterThanOrEqual(60);
    expect(run.seconds()).toBeLessThan(120);
    expect(run.entries).toEqual([
      { type: 'reward_waiting', ...place, unscored: 9, of: 10, code: 'sandbox_down', detail: 'no sandbox' },
      { type: 'reward_resumed', ...place, waited_s: run.seconds() },
    ]);
  });

  it('one of ten down for good: asked about twice, then left out of its group alone', async () => {
    const run = given((text) => text === '23');
    const graded = await grade(run);
    expect(run.asked.filter((text) => text === '23')).toHaveLength(2);
    expect(run.seconds()).toBe(0);
    const policy = {
      overlong: 'keep',
      max_response: 9,
      language_mixing: 'off',
      length_control: 'off',
      shaping: 'off',
      preferred: false,
    } as const;
    const judged = judge(applyPenalties(policy, ['a', 'b'], graded)[1]!);
    // 21, 22, 24, 25 without the one that is missing: mean 23, not 23 with a placeholder 0 among them (18.4).
    const advantages = judged.rollouts_G.map(({ advantage }) => advantage);
    expect(advantages[2]).toBeNull();
    expect(advantages[0]! + advantages[4]!).toBeCloseTo(0, 12);
    expect(advantages[1]! + advantages[3]!).toBeCloseTo(0, 12);
  });

  it('down for good: gives up after the limit and says where, how many and why', async () => {
    const run = given(() => true);
    await expect(grade(run)).rejects.toThrow(RewardUnavailable);
    await expect(grade(given(() => true))).rejects.toThrow(
      /^stage math, step 3: for 30m .* 10 of 10 answers: sandbox_down \(no sandbox\)/,
    );
    expect(run.seconds()).toBe(1800);
    expect(run.entries.map(({ type }) => type)).toEqual(['reward_waiting']);
  });
});

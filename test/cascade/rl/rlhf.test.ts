// Rewards of an rlhf stage as its spec makes them by default, with a real reward model: what of a response is scored, and what
// becomes of one that mixes languages.
import { expect, test } from 'vitest';
import { expandSpec } from '../../../api/contract/expand.ts';
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import { sourcesOf } from '../../../api/contract/sources.ts';
import { jobSpec } from '../../../api/contract/spec.ts';
import { phasesOf } from '../../../api/contract/stages/phase.ts';
import { judgeBatch } from '../../../runner/cascade/rl/judge.ts';
import { RewardModel } from '../../../runner/grader/reward-model.ts';
import { createGrader } from '../../../runner/rewards/grade.ts';
import { createMeans } from '../../../runner/rewards/means.ts';
import type { LoadedModel } from '../../../runner/grader/read-model.ts';
import { leakCheckedRuntime, livelyWeights } from '../../engine/learner/support.ts';
import { tinyValuedModel } from '../../support/tiny-preferences.ts';
import { sourceOf } from '../../support/source.ts';
import { tinyInit } from '../../support/tiny-policy.ts';

const runtime = leakCheckedRuntime();
const checkpoint = `ckpt_${'0'.repeat(20)}`;
const data = `ds_${'p'.repeat(24)}`;

const spec = expandSpec(
  jobSpec.parse({
    type: 'cascade',
    model: { init: tinyInit },
    stages: [{ kind: 'rlhf', data, steps: 1, grader: { type: 'preference', model: checkpoint } }],
  }),
  new Map([[data, data]]),
);
const stage = spec.stages[0] as ExpandedReinforcedStage;
const phase = phasesOf(stage)[0]!;
const [source] = sourcesOf(stage);

const lively = (model: LoadedModel): LoadedModel => ({ ...model, weights: livelyWeights(model.config, 5) });

const rolloutOf = (text: string) => ({
  ...{ prompt: Int32Array.of(4), response: Int32Array.of(5, 6), logProbs: new Float32Array(2) },
  ...{ truncated: false, text },
});

/** Rewards of one group, graded and penalised, with the names of what was added. */
async function judged(prompt: string, responses: readonly string[]) {
  const model = await tinyValuedModel(runtime, {}, lively);
  const rewardModel = await RewardModel.create(runtime, model.model);
  const means = createMeans({ rewardModels: new Map([[checkpoint, (items) => rewardModel.score(items)]]) });
  try {
    const verifier = createGrader(source!.grader, means);
    const row = { prompt, chosen: '1', rejected: '2' };
    const own = sourceOf([row], { ...source, verifier });
    const rollouts_G = await Promise.all(
      responses.map(async (text) => {
        const outcome = await verifier.grade(row, text);
        if (outcome.status !== 'scored') throw new Error(`${text}: ${outcome.status}`);
        return { rollout: rolloutOf(text), outcome, reward: outcome.value };
      }),
    );
    const group = { source: own, task: 0, mode: undefined, rollouts_G };
    const [out] = judgeBatch(stage, phase, [group]);
    return out!.rollouts_G.map(({ reward, penalties, advantage }) => ({
      reward: reward!,
      penalties,
      advantage,
    }));
  } finally {
    await means.close();
    rewardModel[Symbol.dispose]();
    model[Symbol.dispose]();
  }
}

test('only the text after the thinking is scored, and all of it where thinking never ends', async () => {
  const [bare, thought, otherwise, unfinished, wholeOf] = await judged('1+2=', [
    '3',
    '<think>1+2</think>\n\n3',
    '<think>9,9,9</think>3',
    '<think>1+2=3 3',
    '1+2=3 3',
  ]);
  expect(thought!.reward).toBeCloseTo(bare!.reward, 5);
  expect(otherwise!.reward).toBeCloseTo(bare!.reward, 5);
  // "<think>" is no word of this model, which sees the rest.
  expect(unfinished!.reward).toBeCloseTo(wholeOf!.reward, 5);
  expect(Math.abs(unfinished!.reward - bare!.reward)).toBeGreaterThan(0.01);
});

test('a response that mixes languages, in its thinking even, gets 10 below the lowest of the batch', async () => {
  const prompt = 'Please add the two numbers and say what the sum of them is: 1+2=';
  const english = 'The sum of the two numbers that were given is 3';
  const mixed = `<think>The two numbers are 一和二，所以它们的和是三。这个问题很简单。</think>${english}`;
  const [clean, other, bad] = await judged(prompt, [english, '3', mixed]);
  const least = Math.min(clean!.reward, other!.reward);
  // Its answer is the clean one's: without the rule it would have been worth as much.
  expect(bad!.reward).toBeCloseTo(least - 10, 5);
  expect(bad!.penalties).toEqual({ language_mixing: expect.closeTo(least - 10 - clean!.reward, 5) });
  expect([clean!.penalties, other!.penalties]).toEqual([{}, {}]);
  expect(bad!.advantage).toBeLessThan(-1);
});

test('by default an rlhf stage counts for chat, keeps what is overlong and mixes no languages', () => {
  expect(stage).toMatchObject({ domain: 'chat', overlong: 'keep', language_mixing: 'batch_minimum' });
});

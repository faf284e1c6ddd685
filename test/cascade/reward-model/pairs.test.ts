// Rows as the model sees them, which is as it will be asked for its scores; and which of them are held out.
import { describe, expect, test } from 'vitest';
import type { ExpandedRewardModelStage } from '../../../api/contract/expand.ts';
import type { PreferenceRow, Prompt } from '../../../api/contract/task.ts';
import { preparePairs } from '../../../runner/cascade/reward-model/pairs.ts';
import { RewardModel } from '../../../runner/grader/reward-model.ts';
import type { LoadedModel } from '../../../runner/grader/read-model.ts';
import { preferenceVerifier } from '../../../runner/rewards/preference.ts';
import { leakCheckedRuntime, livelyWeights } from '../../engine/learner/support.ts';
import { preferenceRows, rewardModelSpec, tinyValuedModel } from '../../support/tiny-preferences.ts';

const runtime = leakCheckedRuntime();

const stageOf = (fields: Record<string, unknown> = {}): ExpandedRewardModelStage =>
  rewardModelSpec(fields).stages[0] as ExpandedRewardModelStage;

/** Random weights and a head that is not zero. */
const lively = (model: LoadedModel): LoadedModel => ({ ...model, weights: livelyWeights(model.config, 5) });

test('a value in training is the score that the grader gives', async () => {
  const chat: Prompt = [
    { role: 'user', content: '1+2=' },
    { role: 'assistant', content: '3' },
    { role: 'user', content: '2+2=' },
  ];
  const rows: PreferenceRow[] = [
    { prompt: '3+4=', chosen: '7', rejected: '8' },
    // What stands after the thinking; all of it where thinking never ends.
    { prompt: '3+4=', chosen: '<think>3+4</think>\n\n7', rejected: '<think>3+4=7 7' },
    // Marks of the template count for nothing, and cannot end a turn.
    { prompt: '5+4=', chosen: '9<eos>1<sep>', rejected: '9 9' },
    { prompt: chat, chosen: '4', rejected: '5, 5' },
  ];
  const model = await tinyValuedModel(runtime, {}, lively);
  const rewardModel = await RewardModel.create(runtime, model.model);
  try {
    const { trained } = preparePairs(model, stageOf({ held_out: 0 }), rows, 1);
    const sequences = trained.flatMap(({ chosen, rejected }) => [chosen.tokens_T, rejected.tokens_T]);
    const values = await model.learner.values(sequences);
    const verifier = preferenceVerifier((items) => rewardModel.score(items));
    const graded = await Promise.all(
      rows.flatMap(({ prompt, chosen, rejected }) =>
        [chosen, rejected].map((response) => verifier.grade({ prompt }, response)),
      ),
    );
    graded.forEach((reward, at) =>
      expect(reward).toMatchObject({ status: 'scored', value: expect.closeTo(values[at]!, 5) }),
    );
    expect(new Set(values.map((value) => Math.round(value * 1e4))).size).toBeGreaterThan(5);
    // The thinking is gone, the marks are gone.
    expect(trained[1]!.chosen.tokens_T).toEqual(trained[0]!.chosen.tokens_T);
    expect(model.tokenizer.decode([...trained[2]!.chosen.tokens_T])).toBe('5+4=91');
  } finally {
    rewardModel[Symbol.dispose]();
    model[Symbol.dispose]();
  }
});

describe('what is held out', () => {
  async function heldOut(
    fields: Record<string, unknown>,
    rows = preferenceRows,
    seed = 1,
  ): Promise<number[]> {
    const model = await tinyValuedModel(runtime);
    try {
      const { trained, heldOut: held } = preparePairs(model, stageOf(fields), rows, seed);
      const held_ = held.map(({ row }) => row);
      expect([...trained.map(({ row }) => row), ...held_].sort((a, b) => a - b)).toEqual([...rows.keys()]);
      return held_;
    } finally {
      model[Symbol.dispose]();
    }
  }

  test('is the share of the pairs, the same for every run of a seed and other for another', async () => {
    const held = await heldOut({ held_out: 0.1 });
    expect(held).toHaveLength(6);
    expect(await heldOut({ held_out: 0.1 })).toEqual(held);
    expect(await heldOut({ held_out: 0.1 }, preferenceRows, 2)).not.toEqual(held);
    expect(await heldOut({ held_out: 0.1, name: 'another' })).not.toEqual(held);
    // A larger share holds out the same and more.
    expect(await heldOut({ held_out: 0.3 })).toEqual(expect.arrayContaining(held));
    expect(await heldOut({ held_out: 0 })).toEqual([]);
  });

  test('is whole prompts: none of them is trained on in another pair', async () => {
    const rows = preferenceRows.map((row, i) => ({ ...row, prompt: `${i % 12}:` }));
    const held = await heldOut({ held_out: 0.2 }, rows);
    expect(held).toHaveLength(10); // five pairs a prompt: two prompts fit in twelve pairs
    expect(new Set(held.map((row) => row % 12)).size).toBe(2);
  });

  test('is one prompt at least, and never the last', async () => {
    expect(await heldOut({ held_out: 0.001 })).toHaveLength(1);
    const [one, ...rest] = preferenceRows;
    const many = [...rest.map((row) => ({ ...row, prompt: '1+1=' })), { ...one!, prompt: '9+9=' }];
    expect(await heldOut({ held_out: 0.5 }, many)).toEqual([59]);
    expect(await heldOut({ held_out: 0.99 }, preferenceRows.slice(0, 2))).toHaveLength(1);
  });
});

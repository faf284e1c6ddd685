// A round of rollouts graded while it is sampled gives what sampling first and grading afterwards gives, to the bit and in order.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ExpandedReinforcedStage } from '../../../api/contract/expand.ts';
import type { MathRow, Task } from '../../../api/contract/task.ts';
import { phasesOf } from '../../../api/contract/stages/phase.ts';
import { gradeGroups } from '../../../runner/cascade/grading.ts';
import type { GroupRequest } from '../../../runner/cascade/rl/group-request.ts';
import { sampleRound } from '../../../runner/cascade/rl/sample-round.ts';
import { openSources } from '../../../runner/cascade/rl/source.ts';
import type { Source } from '../../../runner/cascade/rl/source.ts';
import { sampleGroups, truncationOf } from '../../../runner/cascade/rollout.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { drawKey } from '../../../runner/engine/random/draws.ts';
import { judgedPart } from '../../../runner/rewards/answer-part.ts';
import { preferenceVerifier } from '../../../runner/rewards/preference.ts';
import type { ScoreAnswers } from '../../../runner/rewards/preference.ts';
import { batched } from '../../../runner/rewards/batched.ts';
import { scored, unscored } from '../../../runner/rewards/reward.ts';
import type { Verifier } from '../../../runner/rewards/verifier.ts';
import { means } from '../../support/means.ts';
import { noOutage, tinyDatasets, tinyPolicy, tinySpec } from '../../support/tiny-policy.ts';
import type { TinyPolicy } from '../../support/tiny-policy.ts';

const stage = tinySpec().stages[1] as ExpandedReinforcedStage;
const [phase] = phasesOf(stage) as [ReturnType<typeof phasesOf>[number]];
const key = drawKey(7, 'rollouts/math', 3);

let runtime: Runtime;
let policy: TinyPolicy;
beforeAll(async () => {
  runtime = createRuntime();
  policy = await tinyPolicy(runtime);
});
afterAll(() => {
  policy[Symbol.dispose]();
  runtime[Symbol.dispose]();
});

function asked(grade: (verifier: Verifier) => Verifier['grade'] = ({ grade }) => grade) {
  const [opened] = openSources(policy, stage, tinyDatasets, means);
  const source = { ...opened!, verifier: { ...opened!.verifier, grade: grade(opened!.verifier) } };
  const requests: GroupRequest[] = [5, 2, 8, 2].map((task) => ({ source, task, mode: undefined }));
  return { source, requests };
}

it('equals grading afterwards, however long each grade takes', async () => {
  const turn = () => new Promise((resolve) => void setImmediate(resolve));
  const { source, requests } = asked(({ grade }) => async (task, text) => {
    for (let i = 0; i < text.length * 3; i += 1) await turn();
    return await grade(task, text);
  });
  const round = await sampleRound({ policy, stage, outage: noOutage }, requests, phase, { key, first: 4 });
  const sampling = { rollouts: 4, temperature: 1, maxResponse: 6, ...truncationOf(phase) };
  const prompts = requests.map(({ task }) => source.prompts.get(undefined)![task]!);
  const rollouts = await sampleGroups(policy, prompts, sampling, key, { first: 4 });
  const rows = requests.map(({ task }) => source.rows[task]!);
  const place = { stage: 'math', step: 3, suite: null };
  const graded = await gradeGroups(source.verifier, rows, rollouts, place, noOutage);
  expect(round.groups_P.map(({ rollouts_G }) => rollouts_G)).toEqual(graded);
  expect(round.groups_P.map(({ task }) => task)).toEqual([5, 2, 8, 2]);
  expect(round.times.time_score_total).toBeGreaterThan(0);
});

it('begins while others are still sampled, and grades equal answers of a task once', async () => {
  const texts: string[] = [];
  let done = 0;
  let early = 0;
  const { requests } = asked(({ grade }) => async (task, text) => {
    if (done < 16) early += 1;
    texts.push(`${(task as { prompt: string }).prompt}/${text}`);
    return await grade(task, text);
  });
  const generate: TinyPolicy['sampler']['generate'] = (all, options, onCompletion) =>
    policy.sampler.generate(all, options, (i, completion) => {
      done += 1;
      onCompletion?.(i, completion);
    });
  const counting = { ...policy, sampler: { ...policy.sampler, generate } };
  const round = await sampleRound({ policy: counting, stage, outage: noOutage }, requests, phase, {
    key,
    first: 0,
  });
  expect(early).toBeGreaterThan(0);
  expect(new Set(texts).size).toBe(texts.length);
  const given = round.groups_P.flatMap(({ task, rollouts_G }) =>
    rollouts_G.map(({ rollout }) => `${task}/${rollout.text}`),
  );
  expect(given).toHaveLength(16);
  expect(new Set(given).size).toBe(texts.length);
});

it('asks a reward model about all rollouts at once, in their order, when the sampler is done', async () => {
  const batches: string[][] = [];
  let sampling = true;
  const score: ScoreAnswers = async (items) => {
    expect(sampling).toBe(false);
    batches.push(items.map(({ prompt, answer }) => `${prompt as string}${answer}`));
    return items.map(({ answer }) => ({ value: answer.length }));
  };
  const { source, requests } = asked();
  const preferred = {
    ...source,
    grader: { type: 'preference' as const, model: `ckpt_${'a'.repeat(24)}` },
    verifier: preferenceVerifier(score),
  };
  const generate: TinyPolicy['sampler']['generate'] = async (...args) => {
    const completions = await policy.sampler.generate(...args);
    sampling = false;
    return completions;
  };
  const round = await sampleRound(
    { policy: { ...policy, sampler: { ...policy.sampler, generate } }, stage, outage: noOutage },
    requests.map((request) => ({ ...request, source: preferred })),
    phase,
    { key, first: 0 },
  );
  const inOrder = round.groups_P.flatMap(({ task, rollouts_G }) =>
    rollouts_G.map(
      ({ rollout }) => `${(source.rows[task] as MathRow).prompt as string}${judgedPart(rollout.text)}`,
    ),
  );
  expect(batches).toEqual([inOrder]);
});

it('asks a service in whole batches as they fill, and about the rest when the sampler is done', async () => {
  const { source, requests } = asked();
  const remote = { type: 'remote', url: 'http://grader.test', batch: 6, retries: 0 } as Source['grader'];
  const sizes: { size: number; isSampling: boolean }[] = [];
  let isSampling = true;
  const ask = batched(6, async (items: readonly string[]) => {
    sizes.push({ size: items.length, isSampling });
    return items.map((text) => scored(text.length));
  });
  const served = {
    ...source,
    grader: remote,
    verifier: { ...source.verifier, isDeterministic: false, grade: (_: Task, text: string) => ask(text) },
  };
  const generate: TinyPolicy['sampler']['generate'] = async (...args) => {
    const completions = await policy.sampler.generate(...args);
    isSampling = false;
    return completions;
  };
  const round = await sampleRound(
    { policy: { ...policy, sampler: { ...policy.sampler, generate } }, stage, outage: noOutage },
    requests.map((request) => ({ ...request, source: served })),
    // Long enough for six to end before the last.
    { ...phase, max_response: 60 },
    { key, first: 0 },
  );
  expect(sizes.map(({ size }) => size)).toEqual([6, 6, 4]);
  expect(sizes[0]!.isSampling).toBe(true);
  for (const { rollout, reward } of round.groups_P.flatMap(({ rollouts_G }) => rollouts_G))
    expect(reward).toBe(rollout.text.length);
});

it('waits out graders that are down when the sampler is done', async () => {
  let down = true;
  const { requests } = asked(
    ({ grade }) =>
      async (task, text) =>
        down ? unscored('sandbox_down') : await grade(task, text),
  );
  const outage = {
    ...noOutage,
    rewards: { ...noOutage.rewards, timeout: '30m' },
    clock: { now: () => 0, wait: async () => void (down = false) },
  };
  const round = await sampleRound({ policy, stage, outage }, requests, phase, { key, first: 0 });
  expect(round.groups_P.flatMap(({ rollouts_G }) => rollouts_G).every(({ reward }) => reward !== null)).toBe(
    true,
  );
});

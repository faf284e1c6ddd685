// Stages with a reward model on a real, tiny model: instruction following with its bonus, and batches in which the reward model
// likes everything alike, where a KL penalty is all that is left to learn from.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Entry } from '../../../api/contract/event.ts';
import { expandedSpec } from '../../../api/contract/expand.ts';
import type { SampleLine } from '../../../api/contract/results.ts';
import { runCascade } from '../../../runner/cascade/run.ts';
import type { Datasets } from '../../../runner/cascade/host.ts';
import { createRuntime } from '../../../runner/engine/ort/create.ts';
import type { Runtime } from '../../../runner/engine/ort/runtime.ts';
import { createMeans } from '../../../runner/rewards/means.ts';
import type { AnswerToScore } from '../../../runner/rewards/preference.ts';
import { noWaiting, tinyDatasets, tinyPolicy, tinySpec } from '../../support/tiny-policy.ts';

let runtime: Runtime;
beforeAll(() => void (runtime = createRuntime()));
afterAll(() => runtime[Symbol.dispose]());

const model = `ckpt_${'r'.repeat(20)}`;

async function run(
  stage: Record<string, unknown>,
  value: (item: AnswerToScore) => number,
  data: Datasets = tinyDatasets,
) {
  const { stages, evaluate, ...rest } = tinySpec({ sftSteps: 20, mathSteps: 8, everySteps: 1000 });
  const { grader: _, ...math } = stages[1] as Extract<(typeof stages)[number], { kind: 'math' }>;
  const spec = expandedSpec.parse({
    ...rest,
    samples: { per_step: 16 },
    stages: [stages[0], { ...math, ...stage }],
    evaluate: { ...evaluate, suites: [] },
  });
  const means = createMeans({
    rewardModels: new Map([
      [model, (items) => Promise.resolve(items.map((item) => ({ value: value(item) })))],
    ]),
  });
  const entries: Entry[] = [];
  const samples: SampleLine[] = [];
  const policy = await tinyPolicy(runtime);
  try {
    await runCascade(spec, policy, data, means, {
      clock: noWaiting,
      alive: () => undefined,
      pauseAsked: () => false,
      emit: (entry) => void entries.push(entry),
      progress: () => undefined,
      samples: (lines) => Promise.resolve(void samples.push(...lines)),
      snapshot: () => Promise.resolve(),
    });
  } finally {
    policy[Symbol.dispose]();
  }
  const steps = entries.filter((entry) => entry.type === 'step' || entry.type === 'step_skipped');
  return { steps: steps.filter((entry) => entry.stage === stage['name']), samples };
}

describe('an instruction stage with a reward model', () => {
  const rows = ['1+2=', '3+4=', '5+1=', '2+2='].map((prompt) => ({
    prompt,
    instruction_id_list: ['punctuation:no_comma'],
    kwargs: [{}],
  }));

  it('rewards with 0, or between 1 and 2, and says of every sample what made its reward', async () => {
    const { samples } = await run(
      {
        kind: 'instruction',
        name: 'follow',
        grader: { type: 'instructions', check: 'strict' },
        reward_model: model,
      },
      ({ answer }) => answer.length,
      { ...tinyDatasets, tasks: () => rows },
    );
    expect(samples).toHaveLength(8 * 16);
    const followed = samples.filter(({ parts }) => parts['instructions'] === 1);
    expect(followed.length).toBeGreaterThan(16);
    for (const { reward, parts, response } of followed) {
      expect(reward).toBeGreaterThan(1);
      expect(reward).toBeLessThan(2);
      expect(reward).toBeCloseTo(1 + parts['reward_model']!, 12);
      expect(parts['preference']).toBe(response.length);
    }
    const missed = samples.filter(({ parts }) => parts['instructions'] === 0);
    expect(missed.length).toBeGreaterThan(0);
    expect(missed.every(({ reward }) => reward === 0)).toBe(true);
  });
});

describe('batches without variance', () => {
  /** The reward model likes digits in the first four batches of 16, and then everything alike. */
  const run8 = (kl: number) => {
    let asked = 0;
    return run(
      { kind: 'rlhf', name: 'rlhf', kl, lr: 5e-3, grader: { type: 'preference', model } },
      ({ answer }) => (asked++ < 64 ? answer.replace(/[^0-9]/g, '').length : 1),
    );
  };

  it('move the policy back to where the stage began, where there is a penalty', async () => {
    const { steps } = await run8(1);
    const late = steps.slice(4);
    expect(late.map(({ type, metrics }) => [type, metrics['zero_variance']])).toEqual(
      new Array(4).fill(['step', 1]),
    );
    expect(late.at(-1)!.metrics['kl']!).toBeLessThan(late[0]!.metrics['kl']!);
  });

  it('are skipped where there is none: momentum alone must not move the weights', async () => {
    const { steps } = await run8(0);
    expect(steps.map(({ type }) => type)).toEqual([
      ...new Array<string>(4).fill('step'),
      ...new Array<string>(4).fill('step_skipped'),
    ]);
    expect('kl' in steps[0]!.metrics).toBe(false);
  });
});

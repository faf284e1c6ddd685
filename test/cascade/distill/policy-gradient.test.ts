// The weights that a whole batch is learnt with, by hand: which log-probability goes with which token, and whose part of the loss it has.
import { describe, expect, it } from 'vitest';
import { distillStage } from '../../../api/contract/stages/distill.ts';
import type { PolicyGradient } from '../../../runner/cascade/distill/mopd.ts';
import { policyGradient } from '../../../runner/cascade/distill/policy-gradient.ts';
import type { DistillPass, TrainedRollout } from '../../../runner/cascade/distill/teacher-batch.ts';
import { normalizersOf } from '../../../runner/cascade/objective.ts';
import type { Loss } from '../../../runner/cascade/objective.ts';
import type { Scorer } from '../../../runner/engine/learner/scorer.ts';
import type { WeightedSequence } from '../../../runner/engine/learner/micro-batches.ts';

const objective = (given: object = {}): PolicyGradient =>
  distillStage.parse({ kind: 'distill', steps: 1, objective: { type: 'policy_gradient', ...given } })
    .objective as PolicyGradient;

const ln = (...probabilities: number[]): number[] => probabilities.map(Math.log);

interface Given {
  readonly prompt: number;
  readonly sampler: number[];
  readonly train: number[];
  readonly teacher: number[];
  readonly reward?: number;
}

/** Two responses, of two tokens and of three, after prompts of three and of one. */
const given: readonly Given[] = [
  { prompt: 3, sampler: ln(0.5, 0.25), train: ln(0.5, 0.375), teacher: ln(0.25, 0.375), reward: 1 },
  { prompt: 1, sampler: ln(0.5, 0.5, 0.1), train: ln(0.4, 0.125, 0.1), teacher: ln(0.8, 0.5, 0.2) },
];

const trainedBy = (loss: Loss): TrainedRollout[] => {
  const rollouts = given.map(({ prompt, sampler }) => ({
    prompt: new Int32Array(prompt),
    response: new Int32Array(sampler.length),
    logProbs: Float32Array.from(sampler),
    truncated: false,
    text: '',
  }));
  const normalizers = normalizersOf(loss, rollouts);
  return rollouts.map((rollout, i) => ({
    rollout,
    normalizer: normalizers[i]!,
    reward: given[i]!.reward ?? 0,
    mode: undefined,
    source: undefined as never,
  }));
};

/** Log-probabilities by whole sequences, as scorer and learner give them. */
const whole = (of: 'train' | 'teacher') =>
  given.map(({ prompt, ...values }) =>
    Float32Array.from([...new Array<number>(prompt).fill(0), ...values[of]]),
  );

/** A learner whose forward gives the policy's log-probabilities above, and that notes what weights it is told; no model is run. */
async function weightsOf(options: object, loss: Loss, teacher = whole('teacher')) {
  const weights: number[][] = [];
  const scores = { logProbs: whole('train'), meanEntropy: 0, plan: [] };
  const forwardBackward: DistillPass['learner']['forwardBackward'] = (sequences, { weigh }) => {
    sequences.forEach(({ tokens_T, scoredFrom = 0 }: WeightedSequence, i) => {
      const own = [...tokens_T.keys()].filter((at) => at >= scoredFrom);
      weights[i] = own.map((at) => weigh!(i, at, scores.logProbs[i]![at]!));
    });
    return Promise.resolve(scores);
  };
  const scorer = { score: () => Promise.resolve({ ...scores, logProbs: teacher }) } as unknown as Scorer;
  const pass = {
    learner: { forwardBackward } as DistillPass['learner'],
    temperature: 1,
    timedTeacher: <Result>(work: () => Promise<Result>) => work(),
  };
  const batch = { teacher: 'stage:best', rollouts: trainedBy(loss) };
  const { distilled } = await policyGradient(objective(options))(pass, batch, scorer);
  return { weights, distilled };
}

const expectClose = (weights: number[][], expected: number[][]): void =>
  expected.forEach((row, i) => row.forEach((value, t) => expect(weights[i]![t]).toBeCloseTo(value, 6)));

const L = Math.LN2;

describe('weights of a batch', () => {
  it('are gate * ratio * advantage / (tokens of the response * responses)', async () => {
    const { weights, distilled } = await weightsOf({}, 'sequence_mean');
    // First response, normalizer 2 * 2: rho 1, a ln(0.25 / 0.5) = -L | rho 1.5, a 0.
    // Second, normalizer 3 * 2: rho 0.8, a L | rho 0.25, dropped | rho 1, a L.
    expectClose(weights, [
      [-L / 4, 0],
      [(0.8 * L) / 6, 0, L / 6],
    ]);
    expect(weights[1]![1]).toBe(0);
    const lengths = distilled.map((one) => [one.policyLogProbs_T.length, one.teacherLogProbs_T.length]);
    expect(lengths).toEqual([
      [2, 2],
      [3, 3],
    ]);
  });

  it('are shares of all tokens in the token mean, the dropped one counted', async () => {
    const { weights } = await weightsOf({}, 'token_mean');
    expectClose(weights, [
      [-L / 5, 0],
      [(0.8 * L) / 5, 0, L / 5],
    ]);
  });

  it('keep the dropped token where its ratio is clamped', async () => {
    const { weights } = await weightsOf({ ratio: { outside: 'clip' } }, 'sequence_mean');
    // a = ln(0.5 / 0.125) = 2 L at the ratio 0.5.
    expectClose(weights, [
      [-L / 4, 0],
      [(0.8 * L) / 6, (0.5 * 2 * L) / 6, L / 6],
    ]);
  });

  it('have the reward of the rollout at each of its tokens', async () => {
    const { weights } = await weightsOf({ reward_weight: 0.5 }, 'sequence_mean');
    expectClose(weights, [
      [(-L + 0.5) / 4, (1.5 * 0.5) / 4],
      [(0.8 * L) / 6, 0, L / 6],
    ]);
  });
});

it('a teacher that gives no probability is named', async () => {
  const teacher = whole('teacher');
  teacher[1]![2] = -Infinity;
  await expect(weightsOf({}, 'token_mean', teacher)).rejects.toThrow(
    /^teacher stage:best gives no probability for a token/,
  );
});

// The gradient that the trainer takes of the whole objective, advantages and KL penalty, against the objective itself: written
// out as a loss in float64, over an independent float64 decoder, and differentiated numerically.
import { expect, test } from 'vitest';
import type { Loss } from '../../../runner/cascade/objective.ts';
import { Reference } from '../../../runner/cascade/rl/reference.ts';
import { weigh } from '../../../runner/cascade/rl/weigh.ts';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import {
  leakCheckedRuntime,
  livelyWeights,
  reference as float64,
  sequence,
} from '../../engine/learner/support.ts';
import { tinyConfig } from '../../engine/models/tiny-config.ts';

const runtime = leakCheckedRuntime();
const temperature = 0.7;
const beta = 0.4;

/** The third and fourth are of a group without variance: the penalty alone moves them. */
const pairs = [
  { advantage: 1.2, prompt: [3, 1], response: [4, 1, 5, 9, 2] },
  { advantage: -0.8, prompt: [3, 1], response: [6, 5] },
  { advantage: 0, prompt: [2, 7, 1], response: [8, 2, 8] },
  { advantage: 0, prompt: [2, 7, 1], response: [10, 0, 4, 5, 9, 0] },
];
const typed = pairs.map(({ advantage, prompt, response }) => ({
  advantage,
  prompt: Int32Array.from(prompt),
  response: Int32Array.from(response),
}));

/** By response token, in float64. */
const logProbs = (weights: Weights64) => {
  const decoder = float64(tinyConfig, weights);
  return pairs.map(({ prompt, response }) =>
    decoder.logProbs([...prompt, ...response], temperature).slice(prompt.length),
  );
};

/**
 * The sum over tokens of share * (- A pi / pi_old + beta (r - 1 - log r)), r = pi_ref / pi: GRPO's loss with ratio 1 as it stands in
 * the paper, before anything of it is differentiated.
 */
function lossAt(loss: Loss, weights: Weights64, old: number[][], ref: number[][]): number {
  const N = pairs.reduce((total, { response }) => total + response.length, 0);
  let total = 0;
  logProbs(weights).forEach((row, i) => {
    const share = loss === 'token_mean' ? 1 / N : 1 / (row.length * pairs.length);
    row.forEach((logPi, t) => {
      const d = ref[i]![t]! - logPi;
      total += share * (-pairs[i]!.advantage * Math.exp(logPi - old[i]![t]!) + beta * (Math.exp(d) - 1 - d));
    });
  });
  return total;
}

type Weights64 = ReadonlyMap<string, { readonly shape: readonly number[]; readonly data: Float64Array }>;
const widened = (weights: Weights): Weights64 =>
  new Map([...weights].map(([name, { shape, data }]) => [name, { shape, data: Float64Array.from(data) }]));

/** A fixed direction in which everything moves. */
const along = (weights: Weights64, seed: number, by: number): Weights64 => {
  let at = 0;
  const moved = [...weights].map(([name, { shape, data }]) => {
    const here = data.map((x) => x + by * Math.sin(seed * 1.7 + 0.9 * at++));
    return [name, { shape, data: here }] as const;
  });
  return new Map(moved);
};

test.each(['token_mean', 'sequence_mean'] as const)('%s, with a penalty', async (loss) => {
  const learner = await Learner.create(runtime, tinyConfig, livelyWeights(tinyConfig, 3));
  const held = new Reference(learner);
  try {
    await held.open(undefined);
    const refs = logProbs(widened(await learner.namedWeights()));
    // Away from the reference, else the penalty has no gradient.
    await learner.forwardBackward([sequence([1, 2, 3, 4, 5, 6], [0, 1, -1, 0.5, 1, 1])], { temperature: 1 });
    await learner.step({ lr: 3e-2, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, clipNorm: 1 });

    const { sequences, metrics } = await weigh(
      { policy: { learner }, stage: { loss, kl: beta }, reference: held },
      typed,
      temperature,
    );
    await learner.forwardBackward(sequences, { temperature });
    const gradient = await learner.namedGradients();

    const weights = widened(await learner.namedWeights());
    const old = logProbs(weights);
    const h = 1e-5;
    for (const seed of [1, 2, 3, 4]) {
      const slope =
        (lossAt(loss, along(weights, seed, h), old, refs) -
          lossAt(loss, along(weights, seed, -h), old, refs)) /
        (2 * h);
      let at = 0;
      let expected = 0;
      for (const name of weights.keys())
        for (const x of gradient.get(name)!.data) expected += x * Math.sin(seed * 1.7 + 0.9 * at++);
      expect(Math.abs(slope)).toBeGreaterThan(1e-2);
      expect(expected / slope).toBeCloseTo(1, 4);
    }

    const k3s = old.flatMap((row, i) =>
      row.map((logPi, t) => Math.exp(refs[i]![t]! - logPi) - 1 - (refs[i]![t]! - logPi)),
    );
    const mean = k3s.reduce((total, k3) => total + k3, 0) / k3s.length;
    expect(mean).toBeGreaterThan(0.01);
    expect(metrics['kl']! / mean).toBeCloseTo(1, 4);
  } finally {
    held.close();
    learner[Symbol.dispose]();
  }
});

test('where nothing has moved the penalty has no weight: advantages alone do, to the bit', async () => {
  const learner = await Learner.create(runtime, tinyConfig, livelyWeights(tinyConfig, 3));
  const held = new Reference(learner);
  try {
    await held.open(undefined);
    const stage = { loss: 'token_mean', kl: beta } as const;
    const weighed = await weigh({ policy: { learner }, stage, reference: held }, typed, temperature);
    const free = await weigh({ policy: { learner }, stage, reference: undefined }, typed, temperature);
    expect(weighed.metrics).toEqual({ kl: 0 });
    expect(weighed.sequences).toEqual(free.sequences);
  } finally {
    held.close();
    learner[Symbol.dispose]();
  }
});

// LoRA through learner and sampler: gradients of A and B against the float64 reference in every way of running, only adapters
// move, sampler and trainer agree, and a run goes on from its state with the same bits. Float16 by emulation.
import { describe, expect, test } from 'vitest';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import type { LearnerOptions, LearnerState } from '../../../runner/engine/learner/learner.ts';
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';
import { linearRoles } from '../../../runner/engine/models/decoder-tensors.ts';
import { initialAdapters } from '../../../runner/engine/models/initialize.ts';
import type { LoraConfig } from '../../../runner/engine/models/lora.ts';
import { mergeAdapters } from '../../../runner/engine/models/merge-adapters.ts';
import { drawKey, drawStream } from '../../../runner/engine/random/draws.ts';
import { SlotSampler } from '../../../runner/engine/sampler/slot-sampler.ts';
import { Float64Decoder } from '../models/float64-decoder.ts';
import { largestError } from '../models/largest-error.ts';
import { livelyAdapters } from '../models/lively-adapters.ts';
import { configOf, tinyFamilies } from '../models/tiny-families.ts';
import { leakCheckedRuntime, livelyWeights, relativeDistance, sequence } from './support.ts';

const runtime = leakCheckedRuntime();
const temperature = 0.8;
const lora: LoraConfig = { rank: 3, alpha: 5, targets: linearRoles };
const adamw = { lr: 1e-3, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0.01, clipNorm: 1 };
const batch = [
  {
    ids: [3, 1, 4, 1, 5, 9, 2, 6, 5, 18, 17, 3],
    weights: [0, 0, 0.4, 0.3, -0.2, 0.5, 0, 0.1, -0.7, 0.2, 0.6, -0.3],
  },
  { ids: [2, 7, 1, 8], weights: [0, 0.4, -0.1, 0.6] },
];
const sequences = batch.map(({ ids, weights }) => sequence(ids, weights));

async function withLearner<T>(
  config: DecoderConfig,
  options: LearnerOptions,
  use: (learner: Learner) => Promise<T>,
): Promise<T> {
  const learner = await Learner.create(runtime, config, livelyWeights(config, 11), options);
  try {
    return await use(learner);
  } finally {
    learner[Symbol.dispose]();
  }
}

const copied = ({ weights, firstMoment, secondMoment, ...rest }: LearnerState): LearnerState => ({
  weights: weights.slice(),
  firstMoment: firstMoment.slice(),
  secondMoment: secondMoment.slice(),
  ...rest,
});

async function steps(learner: Learner, count: number): Promise<void> {
  for (let step = 0; step < count; step++) {
    await learner.forwardBackward(sequences, { temperature });
    await learner.step(adamw);
  }
}

const ways: readonly (readonly [string, LearnerOptions])[] = [
  ['kept', { activations: 'kept' }],
  ['recomputed', { activations: 'recomputed' }],
  ['in chunks of 8 queries', { attentionChunk: 8 }],
];

describe.each(tinyFamilies)('%s', (_, hf) => {
  const config = configOf(hf);
  const adapters = livelyAdapters(config, lora, 5);
  const tuning = { lora, adapters };

  test.each(ways)('%s: gradients of the adapters, and of nothing else, within 1e-4', async (_, way) => {
    const reference = new Float64Decoder(hf, livelyWeights(config, 11), {
      tensors: adapters,
      scale: lora.alpha / lora.rank,
    });
    for (const { ids, weights } of batch) reference.addGradient(ids, weights, temperature);
    await withLearner(config, { ...way, tuning }, async (learner) => {
      await learner.forwardBackward(sequences, { temperature });
      const gradients = await learner.namedGradients();
      expect([...gradients.keys()]).toEqual([...adapters.keys()]);
      for (const [name, { data }] of gradients)
        expect(largestError(data, reference.gradients.get(name)!), name).toBeLessThan(1e-4);
    });
  });

  test('the sampler refuses the base without its adapters, and adapters without their form', async () => {
    await withLearner(config, { tuning }, async ({ weights, adapters, form }) => {
      for (const part of [{ weights }, { weights, form }, { weights, adapters }])
        expect(() => new SlotSampler(runtime, { config, ...part })).toThrow('give the whole learner');
      new SlotSampler(runtime, { config, weights, adapters, form })[Symbol.dispose]();
    });
  });

  test('the sampler draws from the adapted distribution: within 1e-5 of what the learner scores', async () => {
    await withLearner(config, { tuning }, async (learner) => {
      const sampler = new SlotSampler(runtime, learner);
      try {
        await steps(learner, 3);
        const requests = [[3], [5, 4, 18, 2, 0, 7]].map((ids, p) => ({
          prompt: Int32Array.from(ids),
          maxTokens: 30,
          draw: drawStream(drawKey(3, 'test', 1), p, 0),
        }));
        const completions = await sampler.generate(requests, { temperature, endIds: [] });
        const drawn = completions.map(({ tokens }, i) => {
          const ids = [...requests[i]!.prompt, ...tokens];
          return sequence(
            ids,
            ids.map(() => 0),
            requests[i]!.prompt.length,
          );
        });
        const { logProbs } = await learner.score(drawn, { temperature });
        completions.forEach((completion, i) => {
          const scored = logProbs[i]!.subarray(requests[i]!.prompt.length);
          expect(largestError(completion.logProbs, scored)).toBeLessThan(1e-5);
        });
        const merged = await Learner.create(
          runtime,
          config,
          mergeAdapters(config, lora, await learner.namedWeights(), (await learner.namedAdapters())!),
        );
        try {
          const ofMerged = await merged.score(drawn, { temperature });
          ofMerged.logProbs.forEach((row, i) => expect(largestError(row, logProbs[i]!)).toBeLessThan(1e-5));
        } finally {
          merged[Symbol.dispose]();
        }
      } finally {
        sampler[Symbol.dispose]();
      }
    });
  });
});

const [, hf] = tinyFamilies.find(([name]) => name === 'Qwen3, untied')!;
const config = configOf(hf);
const fresh = () => ({ lora, adapters: initialAdapters(config, lora, 1) });

test('new adapters change nothing; training moves them alone', async () => {
  const base = await withLearner(config, {}, (learner) => learner.score(sequences, { temperature }));
  await withLearner(config, { tuning: fresh() }, async (learner) => {
    expect((await learner.score(sequences, { temperature })).logProbs).toEqual(base.logProbs);
    const before = [...(await learner.namedWeights())].map(
      ([name, { data }]) => [name, data.slice()] as const,
    );
    await steps(learner, 3);
    const after = await learner.namedWeights();
    for (const [name, data] of before) expect(after.get(name)!.data, name).toEqual(data);
    for (const [name, { data }] of (await learner.namedAdapters())!)
      expect(data, name).not.toEqual(fresh().adapters.get(name)!.data);
  });
});

test.each<[string, LearnerOptions]>([
  ['float32', {}],
  ['emulated float16, the loss scale among the state', { operands: { type: 'float16', emulated: true } }],
])('goes on from its state with the same bits: %s', async (_, options) => {
  const whole = await withLearner(config, { ...options, tuning: fresh() }, async (learner) => {
    await steps(learner, 5);
    return copied(await learner.state());
  });
  const half = await withLearner(config, { ...options, tuning: fresh() }, async (learner) => {
    await steps(learner, 2);
    return copied(await learner.state());
  });
  const resumed = await withLearner(config, { ...options, tuning: fresh() }, async (learner) => {
    await learner.restore(half);
    await steps(learner, 3);
    return copied(await learner.state());
  });
  expect(resumed).toEqual(whole);
  expect('lossScale' in whole).toBe(options.operands !== undefined);
});

test('adapters that are not the model’s are refused by name', async () => {
  const few = new Map([...fresh().adapters].slice(1));
  await expect(
    Learner.create(runtime, config, livelyWeights(config, 11), { tuning: { lora, adapters: few } }),
  ).rejects.toThrow('base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight');
});

describe('emulated float16', () => {
  const operands = { type: 'float16', emulated: true } as const;

  test('gradients are those of float32 times the loss scale, nearly', async () => {
    const gradients = (options: LearnerOptions) =>
      withLearner(config, options, async (learner) => {
        await learner.forwardBackward(sequences, { temperature });
        return [...(await learner.namedGradients())].map(([name, { data }]) => [name, data.slice()] as const);
      });
    const [whole, half] = [await gradients({}), new Map(await gradients({ operands }))];
    for (const [name, gradient] of whole) {
      const unscaled = half.get(name)!.map((value) => value / 2 ** 16);
      expect(relativeDistance(unscaled, gradient), name).toBeLessThan(0.05);
    }
  });

  test('learns as float32 does, nearly', async () => {
    const learnt = (options: LearnerOptions) =>
      withLearner(config, options, async (learner) => {
        const one = [
          sequence(
            [3, 1, 4, 1, 5, 9, 2, 6],
            [0, 1, 1, 1, 1, 1, 1, 1].map((w) => w / 7),
          ),
        ];
        const losses: number[] = [];
        const norms: number[] = [];
        for (let step = 0; step < 30; step++) {
          const { logProbs } = await learner.forwardBackward(one, { temperature: 1 });
          losses.push(-logProbs[0]!.reduce((sum, logProb) => sum + logProb, 0) / 7);
          norms.push((await learner.step({ ...adamw, lr: 3e-3 })).gradNorm);
        }
        return { losses, norms };
      });
    const [whole, half] = [await learnt({}), await learnt({ operands })];
    expect(half.losses.at(-1)!).toBeLessThan(half.losses[0]! / 4);
    expect(Math.abs(half.losses.at(-1)! - whole.losses.at(-1)!)).toBeLessThan(0.1);
    expect(half.norms[0]! / whole.norms[0]!).toBeGreaterThan(0.95);
    expect(half.norms[0]! / whole.norms[0]!).toBeLessThan(1.05);
  });

  test('a gradient that overflows is skipped, and the scale halved until it fits', async () => {
    await withLearner(config, { operands }, async (learner) => {
      const before = copied(await learner.state());
      const large = batch.map(({ ids, weights }) =>
        sequence(
          ids,
          weights.map((weight) => 100 * weight),
        ),
      );
      await learner.forwardBackward(large, { temperature });
      const report = await learner.step(adamw);
      expect(report).toMatchObject({ updateNorm: 0, overflowed: true });
      expect(await learner.state()).toEqual({ ...before, lossScale: { scale: 2 ** 15, goodSteps: 0 } });
      let tries = 0;
      for (let overflowed = true; overflowed && tries < 20; tries++) {
        await learner.forwardBackward(large, { temperature });
        overflowed = (await learner.step(adamw)).overflowed === true;
      }
      expect(tries).toBeLessThan(20);
      expect((await learner.state()).weights).not.toEqual(before.weights);
    });
  });
});

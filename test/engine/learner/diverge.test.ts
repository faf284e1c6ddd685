// Divergences of whole distributions through the learner: values and gradients of every tensor against float64 and its finite
// differences, for a teacher of another width; nothing where the teacher is the policy; the same however the batch is cut.
import { describe, expect, test } from 'vitest';
import type { DivergenceOptions, Divergences } from '../../../runner/engine/learner/divergences.ts';
import { Learner } from '../../../runner/engine/learner/learner.ts';
import type { LearnerOptions } from '../../../runner/engine/learner/learner.ts';
import type { WeightedSequence } from '../../../runner/engine/learner/micro-batches.ts';
import { Scorer } from '../../../runner/engine/learner/scorer.ts';
import { hfModelConfig } from '../../../runner/engine/models/config.ts';
import type { DecoderConfig } from '../../../runner/engine/models/config.ts';
import { linearRoles } from '../../../runner/engine/models/decoder-tensors.ts';
import type { Weights } from '../../../runner/engine/models/initialize.ts';
import type { LoraConfig } from '../../../runner/engine/models/lora.ts';
import { Scope } from '../../../runner/engine/ort/scope.ts';
import { Float64Decoder } from '../models/float64-decoder.ts';
import type { HfConfig, Tensors } from '../models/float64-decoder.ts';
import { livelyAdapters } from '../models/lively-adapters.ts';
import { tinyConfig } from '../models/tiny-config.ts';
import { float64Divergence } from './float64-divergence.ts';
import { leakCheckedRuntime, livelyWeights, reference, relativeDistance, sequence } from './support.ts';

const runtime = leakCheckedRuntime();
const temperature = 0.7;
/** Wider, deeper, tied: of the policy it shares the vocabulary alone. */
const teacherConfig: DecoderConfig = {
  ...tinyConfig,
  hiddenSize: 24,
  headSize: 6,
  layers: 3,
  tieWordEmbeddings: true,
};
const teacherWeights = livelyWeights(teacherConfig, 8);

/** Shares in the loss: unequal, of several lengths, prompts without. */
const batch: readonly WeightedSequence[] = [
  sequence([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], [0, 0, 0, 0.3, 0.2, 0.1, 0.4, 0.1, 0.2, 0.3], 3),
  sequence([2, 7, 1, 8], [0, 0.4, 0.1, 0.6]),
  sequence([0, 0, 10, 0, 0], [0, 0, 0.25, 0, 0.5], 2),
  sequence([5], [0]),
];

const forms = [
  { beta: 0 },
  { beta: 0.5 },
  { beta: 1 },
  { beta: 0, topK: 3 },
  { beta: 0.3, topK: 3 },
  { beta: 1, topK: 3 },
];

interface Models {
  readonly learner: Learner;
  readonly teacher: Scorer;
}

interface ModelOptions {
  readonly config?: DecoderConfig;
  readonly options?: LearnerOptions;
  readonly teacher?: readonly [DecoderConfig, Weights];
}

async function withModels<T>(
  { config = tinyConfig, options = {}, teacher = [teacherConfig, teacherWeights] }: ModelOptions,
  use: (models: Models) => Promise<T>,
): Promise<T> {
  const scope = new Scope();
  try {
    return await use({
      learner: scope.own(await Learner.create(runtime, config, livelyWeights(config, 3), options)),
      teacher: scope.own(await Scorer.create(runtime, ...teacher)),
    });
  } finally {
    scope[Symbol.dispose]();
  }
}

const copied = async (learner: Learner): Promise<Map<string, Float32Array>> =>
  new Map([...(await learner.namedGradients())].map(([name, { data }]) => [name, data.slice()]));
const flat = (gradients: ReadonlyMap<string, Float32Array>): number[] =>
  [...gradients.values()].flatMap((data) => [...data]);

const gradientOf = (
  form: Omit<DivergenceOptions, 'temperature'>,
  models: ModelOptions,
  sequences = batch,
): Promise<Map<string, Float32Array>> =>
  withModels(models, async ({ learner, teacher }) => {
    await learner.diverge(sequences, teacher, { temperature, ...form });
    return await copied(learner);
  });

type Exact = ReadonlyMap<string, { readonly data: Float64Array }>;
const exact = (weights: Weights): Exact =>
  new Map([...weights].map(([name, { data }]) => [name, { data: Float64Array.from(data) }]));

const teacherLogits = batch.map(({ tokens_T }) =>
  reference(teacherConfig, teacherWeights).logits([...tokens_T]),
);

/** Distance of every scored token, by sequence; the teacher's logits are of the float64 reference, too. */
function distances(student: Float64Decoder, form: Omit<DivergenceOptions, 'temperature'>): number[][] {
  return batch.map(({ tokens_T, scoredFrom = 0 }, i) => {
    const [own, its] = [student.logits([...tokens_T]), teacherLogits[i]!];
    return [...tokens_T].map((_, t) =>
      t < Math.max(1, scoredFrom) ? 0 : float64Divergence(own[t - 1]!, its[t - 1]!, temperature, form),
    );
  });
}

const lora: LoraConfig = { rank: 2, alpha: 3, targets: linearRoles };

interface Way {
  readonly config: DecoderConfig;
  readonly options: LearnerOptions;
  readonly adapters?: Weights;
}

const tied = { ...tinyConfig, tieWordEmbeddings: true, kvHeads: 1, layers: 1 };
const adapters = livelyAdapters(tinyConfig, lora, 5);
const ways: readonly (readonly [string, Way])[] = [
  ['untied', { config: tinyConfig, options: {} }],
  ['tied', { config: tied, options: {} }],
  ['chunks of 8 queries', { config: tinyConfig, options: { attentionChunk: 8 } }],
  ['LoRA', { config: tinyConfig, options: { tuning: { lora, adapters } }, adapters }],
];

/** Central differences at up to `samples` elements of one tensor of what is trained. */
function slopes(way: Way, form: Omit<DivergenceOptions, 'temperature'>, name: string, samples: number) {
  const weights = exact(livelyWeights(way.config, 3));
  const beside = way.adapters && exact(way.adapters);
  const { data } = (beside ?? weights).get(name)!;
  const count = Math.min(samples, data.length);
  const at = Array.from({ length: count }, (_, i) => Math.floor((i * data.length) / count));
  const loss = (): number => {
    const model = new Float64Decoder(
      hfModelConfig(way.config, {}) as unknown as HfConfig,
      weights as Tensors,
      beside && { tensors: beside, scale: lora.alpha / lora.rank },
    );
    return distances(model, form).reduce(
      (total, row, i) => total + row.reduce((sum, d, t) => sum + batch[i]!.weights_T[t]! * d, 0),
      0,
    );
  };
  const expected = at.map((index) => {
    const value = data[index]!;
    data[index] = value + 1e-5;
    const above = loss();
    data[index] = value - 1e-5;
    const slope = (above - loss()) / 2e-5;
    data[index] = value;
    return slope;
  });
  return { at, expected };
}

describe.each(ways)('%s', (_, way) => {
  test.each(forms)(
    '$beta, top $topK: the gradient of every tensor equals finite differences',
    async (form) => {
      for (const [name, data] of await gradientOf(form, way)) {
        const { at, expected } = slopes(way, form, name, 6);
        const found = at.map((index) => data[index]!);
        // Of the embedding only tokens of the batch are probed by chance: those that are not must have none.
        if (expected.every((slope) => Math.abs(slope) < 1e-9))
          expect(found.every((x) => Math.abs(x) < 1e-6)).toBe(true);
        else expect(relativeDistance(found, expected), name).toBeLessThan(3e-4);
      }
    },
  );
});

test.each(forms)('$beta, top $topK: distances equal the definition, scores those of both models', (form) =>
  withModels({}, async ({ learner, teacher }) => {
    const of: Divergences = await learner.diverge(batch, teacher, { temperature, ...form });
    const gradients = await copied(learner);
    const expected = distances(reference(tinyConfig, livelyWeights(tinyConfig, 3)), form);
    of.divergences.forEach((row, i) => row.forEach((d, t) => expect(d).toBeCloseTo(expected[i]![t]!, 4)));
    const own = await learner.score(batch, { temperature });
    const its = await teacher.score(batch, { temperature });
    own.logProbs.forEach((row, i) =>
      row.forEach((logProb, t) => expect(of.logProbs[i]![t]).toBeCloseTo(logProb, 5)),
    );
    its.logProbs.forEach((row, i) =>
      row.forEach((logProb, t) => expect(of.teacherLogProbs[i]![t]).toBeCloseTo(logProb, 5)),
    );
    expect(of.meanEntropy).toBeCloseTo(own.meanEntropy, 5);
    expect(of.plan).toEqual(own.plan);
    // The same without a gradient.
    const only = await learner.divergences(batch, teacher, { temperature, ...form });
    only.divergences.forEach((row, i) =>
      row.forEach((d, t) => expect(d).toBeCloseTo(of.divergences[i]![t]!, 5)),
    );
    expect(await copied(learner)).toEqual(gradients);
  }),
);

describe('a teacher that is the policy', () => {
  test.each([...forms, { beta: 0.5, topK: 11 }, { beta: 1e-3 }])(
    '$beta, top $topK: nothing to learn, to 1e-6',
    (form) =>
      withModels({ teacher: [tinyConfig, livelyWeights(tinyConfig, 3)] }, async ({ learner, teacher }) => {
        const of = await learner.diverge(batch, teacher, { temperature, ...form });
        for (const row of of.divergences) for (const d of row) expect(Math.abs(d)).toBeLessThan(1e-6);
        const gradients = flat(await copied(learner));
        expect(Math.max(...gradients.map(Math.abs))).toBeLessThan(1e-6);
      }),
  );

  test('merged from base and adapters, beside a policy with these adapters', async () => {
    const options = { tuning: { lora, adapters } };
    const learner = await Learner.create(runtime, tinyConfig, livelyWeights(tinyConfig, 3), options);
    const { scorer } = await learner.freeze();
    try {
      const of = await learner.diverge(batch, scorer, { temperature, beta: 0.5 });
      for (const row of of.divergences) for (const d of row) expect(Math.abs(d)).toBeLessThan(1e-6);
    } finally {
      scorer[Symbol.dispose]();
      learner[Symbol.dispose]();
    }
  });
});

test.each(forms)('$beta, top $topK: steps bring the policy nearer to its teacher', (form) =>
  withModels({}, async ({ learner, teacher }) => {
    const total = ({ divergences }: Divergences): number =>
      divergences.reduce(
        (sum, row, i) => sum + row.reduce((all, d, t) => all + d * batch[i]!.weights_T[t]!, 0),
        0,
      );
    const before = total(await learner.divergences(batch, teacher, { temperature, ...form }));
    for (let step = 0; step < 40; step++) {
      await learner.diverge(batch, teacher, { temperature, ...form });
      await learner.step({ lr: 1e-2, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, clipNorm: 1 });
    }
    const after = total(await learner.divergences(batch, teacher, { temperature, ...form }));
    expect(after).toBeLessThan(before / 4);
  }),
);

describe('cut otherwise, the batch has the same gradient', () => {
  const many: readonly WeightedSequence[] = Array.from({ length: 12 }, (_, i) => {
    const ids = Array.from({ length: 3 + ((i * 5) % 17) }, (_, t) => (i * 7 + t * t + 1) % 11);
    return sequence(
      ids,
      ids.map((_, t) => (t < 2 ? 0 : (2 + Math.sin(i + 2 * t)) / 300)),
      2,
    );
  });

  test.each([{ beta: 0 }, { beta: 0.5 }, { beta: 1 }, { beta: 0.5, topK: 4 }])(
    '$beta, top $topK',
    async (form) => {
      const whole = flat(await gradientOf(form, {}, many));
      for (const tokenBudget of [8, 32]) {
        const cut = await gradientOf(form, { options: { tokenBudget } }, many);
        expect(relativeDistance(flat(cut), whole)).toBeLessThan(1e-6);
      }
      const turned = await gradientOf(form, {}, many.toReversed());
      expect(relativeDistance(flat(turned), whole)).toBeLessThan(1e-6);
    },
  );

  test('many chunks of the head: the gradient of few', async () => {
    const config = { ...tinyConfig, vocabSize: 1 << 16 };
    const teacher = [config, livelyWeights(config, 8)] as const;
    const long = Array.from({ length: 5 }, (_, i) => {
      const ids = Array.from({ length: 60 }, (_, t) => (i * 7919 + t * t * 104_729) % config.vocabSize);
      return sequence(
        ids,
        ids.map((_, t) => (t === 0 ? 0 : (2 + Math.sin(i * t)) / 300)),
      );
    });
    const whole = flat(await gradientOf({ beta: 0.5, topK: 100 }, { config, teacher }, long));
    const apart = await withModels({ config, teacher }, async (models) => {
      for (const one of long)
        await models.learner.diverge([one], models.teacher, { temperature, beta: 0.5, topK: 100 });
      return flat(await copied(models.learner));
    });
    expect(relativeDistance(whole, apart)).toBeLessThan(1e-6);
  });
});

test('a scaled loss: the gradient times the scale, nearly', async () => {
  const operands = { type: 'float16', emulated: true } as const;
  const whole = await gradientOf({ beta: 0.5 }, {});
  const scaled = await gradientOf({ beta: 0.5 }, { options: { operands } });
  for (const [name, gradient] of whole) {
    const unscaled = scaled.get(name)!.map((value) => value / 2 ** 16);
    expect(relativeDistance(unscaled, gradient), name).toBeLessThan(0.05);
  }
});

test('shares of zero everywhere: a gradient of exactly zero', async () => {
  const without = batch.map((one) => ({ ...one, weights_T: one.weights_T.map(() => 0) }));
  const gradients = flat(await gradientOf({ beta: 0.5 }, {}, without));
  expect(gradients.every((x) => x === 0)).toBe(true);
});

test('teachers take turns: nothing is kept of one that has left, what was compiled serves the next', () =>
  withModels({}, async ({ learner, teacher }) => {
    const at = { temperature, beta: 1 };
    const beside = async (seed: number) => {
      const other = await Scorer.create(runtime, teacherConfig, livelyWeights(teacherConfig, seed));
      try {
        return (await learner.divergences(batch, other, at)).divergences;
      } finally {
        other[Symbol.dispose]();
      }
    };
    const first = await beside(8);
    const left = runtime.stats();
    const second = await beside(9);
    expect(runtime.stats()).toEqual(left);
    expect(second).not.toEqual(first);
    expect((await learner.divergences(batch, teacher, at)).divergences).toEqual(first);
  }));

test.each<[string, DecoderConfig, string]>([
  [
    'another vocabulary',
    { ...teacherConfig, vocabSize: 12 },
    'the teacher has a vocabulary of 12 words, the policy of 11: whole distributions can be compared over one vocabulary only',
  ],
  [
    'a reward model',
    { ...teacherConfig, tieWordEmbeddings: false, scalarHead: true },
    'this model has a scalar head: it gives no distributions',
  ],
])('%s is refused as a teacher', (_, config, message) =>
  withModels({ teacher: [config, livelyWeights(config, 8)] }, async ({ learner, teacher }) => {
    await expect(learner.diverge(batch, teacher, { temperature, beta: 0 })).rejects.toThrow(message);
  }),
);

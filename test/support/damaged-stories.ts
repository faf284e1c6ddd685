// stories260K, damaged and then distilled back from what it was: noise joins its weights until its own stories are at least a nat a
// token less likely to it; then it answers, and learns from the untouched model how likely every word of its answers would have been.
import { expandedStage } from '../../api/contract/expand.ts';
import type { ExpandedDistillStage } from '../../api/contract/expand.ts';
import { distillStage } from '../../runner/cascade/distill/stage.ts';
import { mean } from '../../runner/cascade/mean.ts';
import { weightedSequence } from '../../runner/cascade/objective.ts';
import type { Policy } from '../../runner/cascade/policy.ts';
import { sampleGroups } from '../../runner/cascade/rollout.ts';
import type { Rollout } from '../../runner/cascade/rollout.ts';
import type { StepResult } from '../../runner/cascade/stage-run.ts';
import { Learner } from '../../runner/engine/learner/learner.ts';
import { Scorer } from '../../runner/engine/learner/scorer.ts';
import type { Weights, WeightTensor } from '../../runner/engine/models/initialize.ts';
import { fillNormal } from '../../runner/engine/models/normal.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import { drawKey } from '../../runner/engine/random/draws.ts';
import { SlotSampler } from '../../runner/engine/sampler/slot-sampler.ts';
import type { Tokenizer } from '../../runner/engine/tokenizer/tokenizer.ts';
import { readModel } from '../../runner/grader/read-model.ts';
import type { LoadedModel } from '../../runner/grader/read-model.ts';
import { means } from './means.ts';
import { noOutage } from './tiny-policy.ts';

export interface DamagedStoriesOptions {
  /** Of stories260K in Hugging Face layout. */
  readonly directory: string;
  readonly seed: number;
  /** One of `storiesStages`, or like them. */
  readonly stage: object;
  /** After every step, with what it told. */
  readonly onStep?: (step: number, result: StepResult) => void;
}

export interface DistilledStories {
  /** Nats a token that the model's own stories lost by the noise. */
  readonly damage: number;
  /** Of each matrix, relative to its root mean square. */
  readonly noise: number;
  /** KL(policy || original), nats a token, over whole distributions at the policy's own held-out answers. */
  readonly before: number;
  readonly after: number;
  readonly steps: number;
  /** Of the stage alone. */
  readonly seconds: number;
}

const data = `ds_${'s'.repeat(24)}`;
const teacher = '/models/stories260K';
/** Tokens of a story, and of an answer. */
const storyLength = 160;
const answerLength = 96;

const common = {
  kind: 'distill',
  name: 'distill',
  domain: 'stories',
  warmup_steps: 5,
  lr_schedule: 'cosine',
  prompts_per_step: 64,
  rollouts: 1,
  max_response: answerLength,
  prompt_format: 'raw',
  domains: [{ domain: 'stories', data, teacher: { uri: teacher }, weight: 1 }],
} as const;

/** Stages that distil it back: by sampled tokens, whose signal is noisy, and by whole distributions. */
export const storiesStages = {
  policy_gradient: { ...common, steps: 200, lr: 2e-3 },
  divergence: { ...common, steps: 80, lr: 5e-3, objective: { type: 'divergence', beta: 1 } },
};

/** Damage, distillation and both measurements, in this process. */
export async function distilDamagedStories(
  runtime: Runtime,
  { directory, seed, stage: given, onStep = () => undefined }: DamagedStoriesOptions,
): Promise<DistilledStories> {
  const scope = new Scope();
  try {
    const model = await readModel(directory);
    const original = scope.own(await Scorer.create(runtime, model.config, model.weights));
    const stories = await ownStories(runtime, model, seed);
    const { weights, noise, damage } = await damaged(runtime, model, original, { stories, seed });
    const policy = await policyOf(runtime, { ...model, weights }, scope);
    const beginnings = beginningsOf(model.tokenizer, stories);
    const half = beginnings.length / 2;
    const reverseKl = (): Promise<number> => klFrom(policy, original, beginnings.slice(half), seed);
    const before = await reverseKl();
    const stage = expandedStage.parse(given) as ExpandedDistillStage;
    const run = distillStage(
      policy,
      stage,
      { sft: () => [], tasks: () => beginnings.slice(0, half).map((prompt) => ({ prompt, answer: '' })) },
      {
        ...{ seed, samplesPerStep: 0, means, outage: noOutage, matrix: { evaluations: [] } },
        host: {
          emit: () => undefined,
          teachers: {
            atOnce: 1,
            positionsOf: () => undefined,
            open: () => Scorer.create(runtime, model.config, model.weights),
          },
        },
      },
    );
    const started = performance.now();
    try {
      await run.begin!(undefined);
      for (let step = 1; step <= run.steps; step += 1) onStep(step, await run.step(step));
    } finally {
      run.end!();
    }
    const seconds = (performance.now() - started) / 1000;
    return { damage, noise, before, after: await reverseKl(), steps: run.steps, seconds };
  } finally {
    scope[Symbol.dispose]();
  }
}

async function policyOf(runtime: Runtime, model: LoadedModel, scope: Scope): Promise<Policy> {
  const learner = scope.own(await Learner.create(runtime, model.config, model.weights));
  const sampler = scope.own(new SlotSampler(runtime, learner));
  return { tokenizer: model.tokenizer, learner, sampler };
}

const answersTo = async (
  policy: Policy,
  prompts: readonly Int32Array[],
  maxResponse: number,
  key: ReturnType<typeof drawKey>,
): Promise<Rollout[]> =>
  (await sampleGroups(policy, prompts, { rollouts: 1, temperature: 1, maxResponse }, key)).flat();

/** What the untouched model tells, from nothing but the begin token. */
async function ownStories(runtime: Runtime, model: LoadedModel, seed: number): Promise<Rollout[]> {
  const scope = new Scope();
  try {
    const policy = await policyOf(runtime, model, scope);
    const begin = Int32Array.of(model.tokenizer.bosId!);
    return await answersTo(
      policy,
      new Array<Int32Array>(128).fill(begin),
      storyLength,
      drawKey(seed, 'stories', 0),
    );
  } finally {
    scope[Symbol.dispose]();
  }
}

/** The first 8 to 23 tokens of each, as text. */
const beginningsOf = (tokenizer: Tokenizer, stories: readonly Rollout[]): string[] =>
  stories.map(({ response }, i) => tokenizer.decode([...response.subarray(0, 8 + (i % 16))]));

/** With the least noise, by steps of a tenth, that costs its own stories a nat a token. */
async function damaged(
  runtime: Runtime,
  model: LoadedModel,
  original: Scorer,
  { stories, seed }: { readonly stories: readonly Rollout[]; readonly seed: number },
): Promise<{ weights: Weights; noise: number; damage: number }> {
  const whole = await meanLogProb(original, stories);
  for (let noise = 0.1; noise < 10; noise *= 1.1) {
    const weights = noisy(model.weights, noise, seed);
    const scorer = await Scorer.create(runtime, model.config, weights);
    const damage = whole - (await meanLogProb(scorer, stories));
    scorer[Symbol.dispose]();
    if (damage >= 1) return { weights, noise, damage };
  }
  throw new Error('no noise makes the model worse');
}

async function meanLogProb(scorer: Scorer, stories: readonly Rollout[]): Promise<number> {
  const sequences = stories.map((story) => weightedSequence(story, () => 0));
  const { logProbs } = await scorer.score(sequences, { temperature: 1 });
  return mean(logProbs.flatMap((values, i) => [...values.subarray(sequences[i]!.scoredFrom)]));
}

/** Norms are left as they are. */
const noisy = (weights: Weights, noise: number, seed: number): Weights =>
  new Map(
    [...weights].map(([name, tensor], index) => [
      name,
      tensor.shape.length < 2 ? tensor : noisyMatrix(tensor, noise, [seed, index]),
    ]),
  );

function noisyMatrix({ shape, data }: WeightTensor, noise: number, key: [number, number]): WeightTensor {
  const rootMeanSquare = Math.sqrt(mean([...data].map((value) => value ** 2)));
  const added = new Float32Array(data.length);
  fillNormal(added, key, noise * rootMeanSquare);
  return { shape, data: added.map((value, i) => value + data[i]!) };
}

async function klFrom(
  policy: Policy,
  original: Scorer,
  prompts: readonly string[],
  seed: number,
): Promise<number> {
  const tokens = prompts.map((prompt) => Int32Array.from(policy.tokenizer.encode(prompt)));
  const answers = await answersTo(policy, tokens, answerLength, drawKey(seed, 'held-out', 0));
  const sequences = answers.map((answer) => weightedSequence(answer, () => 0));
  const { divergences } = await policy.learner.divergences(sequences, original, { beta: 1, temperature: 1 });
  return mean(divergences.flatMap((values, i) => [...values.subarray(sequences[i]!.scoredFrom)]));
}

// Digit completion learnt by full tuning and by LoRA: supervised, then reinforced, by the cascade itself, from a base that was
// taught the sequences backwards. The merged model is the adapted one. (Adapters need a base that has been trained: on random
// frozen weights, embedding and head among them, they learn next to nothing.)
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Entry } from '../../api/contract/event.ts';
import { expandedSpec } from '../../api/contract/expand.ts';
import type { ExpandedTuning } from '../../api/contract/tuning.ts';
import { loraModules } from '../../api/contract/tuning.ts';
import type { MathRow, SftRow } from '../../api/contract/task.ts';
import { runCascade } from '../../runner/cascade/run.ts';
import type { Host } from '../../runner/cascade/host.ts';
import { Learner } from '../../runner/engine/learner/learner.ts';
import { mergeAdapters } from '../../runner/engine/models/merge-adapters.ts';
import type { Weights } from '../../runner/engine/models/initialize.ts';
import { createRuntime } from '../../runner/engine/ort/create.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { SlotSampler } from '../../runner/engine/sampler/slot-sampler.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import type { LoadedModel } from '../../runner/trainer/load-model.ts';
import { noWaiting } from '../support/tiny-policy.ts';
import { largestError } from '../engine/models/largest-error.ts';
import { loadTuning } from '../../runner/trainer/load-tuning.ts';
import { means } from '../support/means.ts';

const init = {
  from: 'config',
  config: {
    model_type: 'llama',
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    max_position_embeddings: 64,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    tie_word_embeddings: false,
    initializer_range: 0.02,
  },
  tokenizer: { type: 'characters', alphabet: '0123456789+:' },
} as const;

/** Four terms that go up or down by the step, modulo ten: up, "3+2:" -> "3579". */
const tasks = (sign: 1 | -1): readonly MathRow[] =>
  Array.from({ length: 30 }, (_, i) => {
    const [first, step] = [i % 10, 1 + Math.floor(i / 10)];
    const term = (n: number) => (first + sign * step * n + 40) % 10;
    return { prompt: `${first}+${step}:`, answer: [0, 1, 2, 3].map(term).join('') };
  });
const conversations = (sign: 1 | -1): readonly SftRow[] =>
  tasks(sign).map(({ prompt, answer }) => ({
    messages: [
      { role: 'user', content: prompt as string },
      { role: 'assistant', content: answer },
    ],
  }));

const id = (letter: string) => `ds_${letter.repeat(24)}`;
const named = (kind: string) => ({ kind, name: kind, domain: kind, prompt_format: 'auto' });

function spec(tuning: ExpandedTuning, lr: number, sftSteps: number, mathSteps: number) {
  const sft = { ...named('sft'), data: id('s'), batch: 32, steps: sftSteps, lr, max_length: 64 };
  const math = {
    ...named('math'),
    data: id('t'),
    grader: { type: 'prefix' },
    steps: mathSteps,
    prompts_per_step: 16,
    rollouts: 8,
    max_response: 8,
    top_p: 1,
    overlong: 'keep',
    filter: { type: 'off' },
    language_mixing: 'off',
    lr: lr / 10,
  };
  const suite = {
    name: 'digits',
    domain: 'math',
    data: id('e'),
    grader: { type: 'prefix' },
    k: 4,
    sampling: { max_response: 8 },
  };
  return expandedSpec.parse({
    type: 'cascade',
    seed: 7,
    model: { init, tuning },
    stages: mathSteps > 0 ? [sft, math] : [sft],
    evaluate: { after: 'stage', suites: [suite] },
    checkpoints: { every_steps: 1000 },
  });
}

let runtime: Runtime;
let base: LoadedModel;
beforeAll(async () => {
  runtime = createRuntime();
  const fresh = await loadModel(init, { datasets: {} }, 3);
  const { weights } = await train(fresh, { method: 'full' }, 3e-3, 150, 0, -1);
  base = { ...fresh, weights };
});
afterAll(() => {
  expect(runtime.stats()).toEqual({ sessions: 0, tensors: 0, bindings: 0 });
  runtime[Symbol.dispose]();
});

interface Trained {
  /** Mean rewards on unseen prompts: at first, and after each stage. */
  readonly rewards: readonly number[];
  /** Of the whole model, adapters merged. */
  readonly weights: Weights;
  /** Names of the base's tensors that are no longer what they were. */
  readonly changed: readonly string[];
  /** Of `probes`, as the learner scores them. */
  readonly logProbs: readonly Float32Array[];
}

async function train(
  model: LoadedModel,
  wanted: ExpandedTuning,
  lr: number,
  sftSteps: number,
  mathSteps: number,
  sign: 1 | -1 = 1,
): Promise<Trained> {
  const job = spec(wanted, lr, sftSteps, mathSteps);
  const tuning = await loadTuning(job, model, undefined);
  const learner = await Learner.create(runtime, model.config, model.weights, { tuning });
  const sampler = new SlotSampler(runtime, learner);
  const entries: Entry[] = [];
  const host: Host = {
    clock: noWaiting,
    alive: () => undefined,
    pauseAsked: () => false,
    emit: (entry) => void entries.push(entry),
    progress: () => undefined,
    samples: () => Promise.resolve(),
    snapshot: () => Promise.resolve(),
  };
  try {
    await runCascade(
      job,
      { tokenizer: model.tokenizer, learner, sampler },
      { sft: () => conversations(sign), tasks: () => tasks(sign) },
      means,
      host,
    );
    const own = new Map(
      [...(await learner.namedWeights())].map(([name, { shape, data }]) => [
        name,
        { shape, data: data.slice() },
      ]),
    );
    const adapters = await learner.namedAdapters();
    const { logProbs } = await learner.score(sign === 1 ? probes() : [], { temperature: 1 });
    return {
      logProbs,
      rewards: entries.flatMap((entry) =>
        entry.type === 'evaluation' ? entry.cells.map(({ value }) => value) : [],
      ),
      weights: tuning === undefined ? own : mergeAdapters(model.config, tuning.lora, own, adapters!),
      changed: [...own].flatMap(([name, { data }]) =>
        data.every((value, i) => value === model.weights.get(name)!.data[i]) ? [] : [name],
      ),
    };
  } finally {
    sampler[Symbol.dispose]();
    learner[Symbol.dispose]();
  }
}

const lora: ExpandedTuning = { method: 'lora', rank: 16, alpha: 32, target_modules: [...loraModules] };

/** Rewards measured: 0.20, 0.43, 0.70 with full tuning; 0.20, 0.54, 0.72 with LoRA. */
test.each<[string, ExpandedTuning, number]>([
  ['full tuning', { method: 'full' }, 3e-3],
  ['LoRA', lora, 1e-2],
])('%s learns it: supervised, then reinforced', async (_, tuning, lr) => {
  const { rewards, weights, changed, logProbs } = await train(base, tuning, lr, 20, 40);
  expect(rewards.length).toBe(3);
  expect(rewards[1]! - rewards[0]!).toBeGreaterThan(0.15);
  expect(rewards[2]! - rewards[1]!).toBeGreaterThan(0.1);
  expect(changed.length).toBe(tuning.method === 'full' ? weights.size : 0);
  const whole = await Learner.create(runtime, base.config, weights);
  try {
    const merged = (await whole.score(probes(), { temperature: 1 })).logProbs;
    merged.forEach((row, i) => expect(largestError(row, logProbs[i]!)).toBeLessThan(1e-5));
  } finally {
    whole[Symbol.dispose]();
  }
});

/** Every task with its answer, scored throughout. */
function probes() {
  return tasks(1).map(({ prompt, answer }) => {
    const tokens_T = Int32Array.from(base.tokenizer.encode(`${prompt as string}${answer as string}`));
    return { tokens_T, weights_T: new Float32Array(tokens_T.length) };
  });
}

// A real policy small enough to train within a test: a characters tokenizer, a two-layer Llama with grouped heads, the real
// learner and sampler.
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { expandedSpec } from '../../api/contract/expand.ts';
import type { Clock, OutagePolicy } from '../../runner/cascade/outage.ts';
import type { Policy } from '../../runner/cascade/policy.ts';
import { Learner } from '../../runner/engine/learner/learner.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import { Scope } from '../../runner/engine/ort/scope.ts';
import { SlotSampler } from '../../runner/engine/sampler/slot-sampler.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import type { LoadedModel } from '../../runner/trainer/load-model.ts';

export const tinyInit = {
  from: 'config',
  config: {
    model_type: 'llama',
    hidden_size: 32,
    intermediate_size: 64,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    max_position_embeddings: 128,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    tie_word_embeddings: true,
    initializer_range: 0.05,
  },
  tokenizer: { type: 'characters', alphabet: '0123456789,:+= ' },
} as const;

export interface TinyPolicy extends Policy, Disposable {
  readonly model: LoadedModel;
}

export async function tinyPolicy(runtime: Runtime, seed = 1): Promise<TinyPolicy> {
  const scope = new Scope();
  const model = await loadModel(tinyInit, { datasets: {} }, seed);
  const learner = scope.own(await Learner.create(runtime, model.config, model.weights));
  const sampler = scope.own(new SlotSampler(runtime, learner));
  return {
    model,
    tokenizer: model.tokenizer,
    learner,
    sampler,
    [Symbol.dispose]: () => scope[Symbol.dispose](),
  };
}

const id = (letter: string) => `ds_${letter.repeat(24)}`;
export const tinyData = { sft: id('s'), math: id('m'), test: id('t') } as const;

/** An sft stage and a math stage over `tinyData`, a suite after each. */
export function tinySpec(
  overrides: {
    sftSteps?: number;
    mathSteps?: number;
    everySteps?: number;
    math?: Record<string, unknown>;
  } = {},
): ExpandedSpec {
  const { sftSteps = 16, mathSteps = 6, everySteps = 4, math = {} } = overrides;
  const named = (kind: string) => ({
    kind,
    name: kind,
    domain: kind,
    warmup_steps: 0,
    prompt_format: 'auto',
  });
  const optimizer = { beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0, clip_norm: 1 };
  return expandedSpec.parse({
    type: 'cascade',
    seed: 7,
    model: { init: tinyInit, tuning: { method: 'full' } },
    stages: [
      {
        ...named('sft'),
        data: tinyData.sft,
        lr: 1e-2,
        lr_schedule: 'cosine',
        batch: 16,
        steps: sftSteps,
        max_length: 64,
        optimizer,
      },
      {
        ...named('math'),
        data: tinyData.math,
        lr: 1e-3,
        lr_schedule: 'constant',
        grader: { type: 'prefix' },
        steps: mathSteps,
        prompts_per_step: 4,
        rollouts: 4,
        temperature: 1,
        max_response: 6,
        overlong: 'keep',
        top_p: 1,
        filter: { type: 'off' },
        language_mixing: 'off',
        optimizer,
        ...math,
      },
    ],
    evaluate: {
      after: 'stage',
      suites: [
        {
          name: 'sums',
          domain: 'math',
          data: tinyData.test,
          grader: { type: 'prefix' },
          k: 2,
          sampling: { temperature: 1, max_response: 6 },
          prompt_format: 'auto',
        },
      ],
    },
    checkpoints: { every_steps: everySteps },
    samples: { per_step: 3 },
    resources: { accelerator: 'cpu', min_memory_gb: 0, runner_labels: {} },
    labels: {},
    priority: 0,
    max_attempts: 3,
    stall_timeout: '15m',
  });
}

const sums = Array.from({ length: 40 }, (_, i) => ({
  prompt: `${i % 7}+${i % 10}=`,
  answer: String((i % 7) + (i % 10)),
}));

export const tinyRows = {
  sft: sums.map(({ prompt, answer }) => ({
    messages: [
      { role: 'user' as const, content: prompt },
      { role: 'assistant' as const, content: answer },
    ],
  })),
  math: sums,
  test: sums.slice(0, 10),
};

/** Time of runs in which nobody waits. */
export const noWaiting: Clock = {
  now: () => 0,
  wait: () => Promise.reject(new Error('this run was not to wait for rewards')),
};

/** Of runs whose graders are there. */
export const noOutage: OutagePolicy = {
  rewards: { unscored_at_most: 0, timeout: '1s', otherwise: 'fail' },
  clock: noWaiting,
  emit: () => undefined,
  alive: () => undefined,
};

/** `tinyRows` by dataset id, as the cascade asks for them. */
export const tinyDatasets = {
  sft: () => tinyRows.sft,
  tasks: (dataset: string) => (dataset === tinyData.test ? tinyRows.test : tinyRows.math),
};

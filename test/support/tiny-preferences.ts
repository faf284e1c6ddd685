// Preferences that a tiny model learns within a test: sums whose short answer is preferred to one that goes on and on; and a job
// that trains a reward model on them.
import type { ExpandedSpec } from '../../api/contract/expand.ts';
import { expandSpec } from '../../api/contract/expand.ts';
import { jobSpec } from '../../api/contract/spec.ts';
import type { PreferenceRow } from '../../api/contract/task.ts';
import type { ValuedModel } from '../../runner/cascade/reward-model/pairs.ts';
import { Learner } from '../../runner/engine/learner/learner.ts';
import type { PassOptions } from '../../runner/engine/learner/passes.ts';
import type { Runtime } from '../../runner/engine/ort/runtime.ts';
import type { LoadedModel } from '../../runner/grader/read-model.ts';
import { loadModel } from '../../runner/trainer/load-model.ts';
import { withScalarHead } from '../../runner/trainer/scalar-model.ts';
import { tinyInit } from './tiny-policy.ts';

export const preferenceData = `ds_${'p'.repeat(24)}`;

export const preferenceRows: PreferenceRow[] = Array.from({ length: 60 }, (_, i) => {
  const [a, b] = [i % 10, Math.floor(i / 10)];
  const answer = String(a + b);
  return { prompt: `${a}+${b}=`, chosen: answer, rejected: `${answer}${` ${answer}`.repeat(2 + (i % 3))}` };
});

export function rewardModelSpec(
  stage: Record<string, unknown> = {},
  rest: Record<string, unknown> = {},
): ExpandedSpec {
  const posted = jobSpec.parse({
    type: 'reward_model',
    seed: 7,
    model: { init: tinyInit },
    stage: {
      ...{ kind: 'reward_model', data: preferenceData, batch: 8, steps: 12, lr: 3e-3, held_out: 0.2 },
      ...stage,
    },
    checkpoints: { every_steps: 5 },
    ...rest,
  });
  return expandSpec(posted, new Map([[preferenceData, preferenceData]]));
}

export interface TinyValuedModel extends ValuedModel, Disposable {
  readonly model: LoadedModel;
}

/** The policy's own tiny Llama with a new scalar head. */
export async function tinyValuedModel(
  runtime: Runtime,
  options: PassOptions = {},
  change: (model: LoadedModel) => LoadedModel = (model) => model,
): Promise<TinyValuedModel> {
  const model = change(withScalarHead(await loadModel(tinyInit, { datasets: {} }, 1)));
  const learner = await Learner.create(runtime, model.config, model.weights, options);
  return {
    model,
    tokenizer: model.tokenizer,
    learner,
    [Symbol.dispose]: () => learner[Symbol.dispose](),
  };
}

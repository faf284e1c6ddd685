// The model of a job that trains a reward model: a learner with a scalar head, and no sampler, since it answers nothing.
import type { Claim } from '../../api/contract/runner.ts';
import { Learner } from '../engine/learner/learner.ts';
import { memoryBudgets } from '../engine/memory-budget.ts';
import { chooseOperands } from '../engine/models/operand-choice.ts';
import type { Runtime } from '../engine/ort/runtime.ts';
import type { Device, Inputs } from '../ipc.ts';
import { loadModel } from './load-model.ts';
import { trainerMachine } from './open-policy.ts';
import type { OpenModel } from './open-policy.ts';
import { withScalarHead } from './scalar-model.ts';

export async function openRewardModel(
  runtime: Runtime,
  { spec }: Pick<Claim, 'spec'>,
  inputs: Inputs,
  device: Device,
): Promise<OpenModel> {
  const model = withScalarHead(await loadModel(spec.model.init, inputs, spec.seed));
  const choice = await chooseOperands(runtime);
  const { activationBytes: memoryBytes } = memoryBudgets(model.config, undefined, trainerMachine(device));
  const { operands } = choice;
  const learner = await Learner.create(runtime, model.config, model.weights, { operands, memoryBytes });
  return {
    tokenizer: model.tokenizer,
    learner,
    files: model.files,
    tuning: undefined,
    choice,
    cacheTokens: 0,
    [Symbol.dispose]: () => learner[Symbol.dispose](),
  };
}

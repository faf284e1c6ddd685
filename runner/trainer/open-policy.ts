// The policy of an attempt: model files become a learner and a sampler where the runtime computes. What was read into memory
// for that is let go of: after this the weights exist once.
import type { Claim } from '../../api/contract/runner.ts';
import type { Policy } from '../cascade/policy.ts';
import type { ModelFileName } from '../checkpoint/model-files.ts';
import { Learner } from '../engine/learner/learner.ts';
import { memoryBudgets } from '../engine/memory-budget.ts';
import type { Machine } from '../engine/memory-budget.ts';
import { chooseOperands } from '../engine/models/operand-choice.ts';
import type { OperandChoice } from '../engine/models/operand-choice.ts';
import type { Runtime } from '../engine/ort/runtime.ts';
import { Scope } from '../engine/ort/scope.ts';
import { SlotSampler } from '../engine/sampler/slot-sampler.ts';
import type { Device, Inputs } from '../ipc.ts';
import { InvalidModel, loadModel } from './load-model.ts';
import { loadTuning } from './load-tuning.ts';
import type { LoadedTuning } from './load-tuning.ts';
import { besidePolicy } from './beside-policy.ts';
import { openTeacher } from './teacher-model.ts';
import type { OpenTeachers } from './process-teachers.ts';

/** What is trained, without the first values. */
export type TunedPart = Omit<LoadedTuning, 'adapters'>;

/** What is trained, whatever its head. */
export interface OpenModel extends Pick<Policy, 'tokenizer' | 'learner'>, Disposable {
  /** Carried into every checkpoint. */
  readonly files: ReadonlyMap<ModelFileName, string>;
  readonly tuning: TunedPart | undefined;
  readonly choice: OperandChoice;
  /** Of the sampler; 0 where there is none. */
  readonly cacheTokens: number;
  /** Where a stage distils. */
  readonly teachers?: OpenTeachers | undefined;
}

export type OpenPolicy = OpenModel & Policy;

/** Of RAM the learner takes what there is: what a runner is told to register changes no rounding. */
export const trainerMachine = ({ provider, memoryGb }: Device): Machine => ({
  provider,
  memoryBytes: provider === 'cpu' ? undefined : memoryGb * 1e9,
});

export async function openPolicy(
  runtime: Runtime,
  { spec }: Pick<Claim, 'spec'>,
  inputs: Inputs,
  device: Device,
): Promise<OpenPolicy> {
  const { init, tuning: wanted } = spec.model;
  const model = await loadModel(init, inputs, spec.seed, wanted.method);
  if (model.config.scalarHead === true)
    throw new InvalidModel(
      'the model has a scalar head: a reward model answers nothing, begin with a language model',
    );
  const tuning = await loadTuning(spec, model, inputs.resume);
  const choice = await chooseOperands(runtime);
  const machine = trainerMachine(device);
  const { frozenParameters, atOnce, positions } = await besidePolicy(
    spec,
    model,
    tuning?.lora,
    machine,
    inputs.teachers,
  );
  const budgets = memoryBudgets(model.config, tuning?.lora, { ...machine, frozenParameters });
  // Not the weights: they are let go of.
  const student = { config: model.config, files: model.files };
  const scope = new Scope();
  try {
    const { operands } = choice;
    const memoryBytes = budgets.activationBytes;
    const options = { tuning, operands, memoryBytes };
    const learner = scope.own(await Learner.create(runtime, model.config, model.weights, options));
    return {
      tokenizer: model.tokenizer,
      learner,
      sampler: scope.own(new SlotSampler(runtime, learner, budgets.slots)),
      files: model.files,
      tuning: tuning && { lora: tuning.lora, config: tuning.config, baseSha256: tuning.baseSha256 },
      choice,
      cacheTokens: budgets.slots.cacheTokens,
      teachers:
        atOnce === undefined
          ? undefined
          : {
              atOnce,
              positions,
              open: (from) => openTeacher(runtime, student, from, { operands, memoryBytes }),
            },
      [Symbol.dispose]: () => scope[Symbol.dispose](),
    };
  } catch (error) {
    scope[Symbol.dispose]();
    throw error;
  }
}

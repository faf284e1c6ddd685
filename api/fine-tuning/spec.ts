// The job behind one of OpenAI's form: `sft` for a supervised method, a `cascade` of one stage for reinforcement. "auto" is
// worked out here; every other value is the stage's own default.
import type { Dataset } from '../contract/dataset.ts';
import type {
  FineTuningMethod,
  FineTuningRequest,
  Reinforcement,
  Supervised,
} from '../contract/fine-tuning.ts';
import { givesOneWhereRight } from '../contract/grader.ts';
import type { NamedModel } from '../contract/model-names.ts';
import type { JobSpecInput } from '../contract/spec.ts';
import { stage as anyStage } from '../contract/stage.ts';
import { sftStage } from '../contract/stages/sft.ts';
import type { TaskKind } from '../contract/task.ts';
import { graderOf } from './grader.ts';

export interface FineTuningJobParts {
  readonly request: FineTuningRequest;
  readonly method: FineTuningMethod;
  readonly model: NamedModel;
  readonly training: Dataset;
  readonly validation: Dataset | undefined;
  /** Of the model, where they are known. */
  readonly positions: number | undefined;
}

export interface FineTuningSpec {
  readonly spec: JobSpecInput;
  /** With its numbers filled in. */
  readonly method: FineTuningMethod;
}

/** Labels by which such a job is found among the others. */
export const originLabel = { api: 'openai' } as const;

export function specOf(parts: FineTuningJobParts): FineTuningSpec {
  const { method } = parts;
  return method.type === 'supervised' ? supervisedSpec(parts, method) : reinforcementSpec(parts, method);
}

/** The method that a request means, the older form included. */
export function methodOf({ method, hyperparameters }: FineTuningRequest): FineTuningMethod {
  if (method?.type === 'reinforcement') return method;
  return {
    type: 'supervised',
    supervised: { hyperparameters: method?.supervised?.hyperparameters ?? hyperparameters },
  };
}

const given = <T>(value: T | 'auto' | null | undefined): T | undefined =>
  value === 'auto' || value === null ? undefined : value;

function supervisedSpec(parts: FineTuningJobParts, { supervised }: Supervised): FineTuningSpec {
  const { training, validation, positions = Infinity } = parts;
  const asked = supervised?.hyperparameters ?? {};
  const defaults = sftStage.parse({ kind: 'sft', data: 'any' });
  const n_epochs = given(asked.n_epochs) ?? 1;
  const batch_size = given(asked.batch_size) ?? Math.min(256, Math.max(1, Math.ceil(training.rows * 0.002)));
  const learning_rate_multiplier = given(asked.learning_rate_multiplier) ?? 1;
  const max_length = asked.max_length ?? Math.min(defaults.max_length, positions);
  const stage = {
    kind: 'sft' as const,
    data: training.id,
    epochs: n_epochs,
    batch: batch_size,
    lr: defaults.lr * learning_rate_multiplier,
    max_length,
  };
  const suites = validation && [
    { name: 'validation', measure: 'loss' as const, data: validation.id, max_length },
  ];
  return {
    spec: {
      type: 'sft',
      ...envelope(parts, Math.ceil(training.rows / batch_size)),
      stage,
      ...(suites && { evaluate: { suites } }),
    },
    method: {
      type: 'supervised',
      supervised: { hyperparameters: { n_epochs, batch_size, learning_rate_multiplier, max_length } },
    },
  };
}

const stageKinds = {
  math: 'math',
  instruction: 'instruction',
  code: 'code',
  swe: 'swe',
  preference: 'rlhf',
} as const satisfies Record<TaskKind, string>;

function reinforcementSpec(parts: FineTuningJobParts, { reinforcement }: Reinforcement): FineTuningSpec {
  const { training, validation, positions = Infinity } = parts;
  const asked = reinforcement.hyperparameters ?? {};
  const grader = graderOf(reinforcement.grader);
  const kind = stageKinds[training.kind as TaskKind];
  const defaults = anyStage.parse({ kind, data: 'any', grader, steps: 1 });
  if (!('prompts_per_step' in defaults)) throw new Error(`internal: ${kind} is no stage of prompts`);
  const n_epochs = given(asked.n_epochs) ?? 1;
  const batch_size = given(asked.batch_size) ?? Math.min(defaults.prompts_per_step, training.rows);
  const learning_rate_multiplier = given(asked.learning_rate_multiplier) ?? 1;
  const compute_multiplier = given(asked.compute_multiplier) ?? 1;
  const max_response =
    asked.max_response ?? Math.max(1, Math.min(defaults.max_response, Math.floor(positions / 2)));
  const steps = Math.max(1, Math.ceil((training.rows * n_epochs) / batch_size));
  const stage = {
    kind,
    data: training.id,
    grader,
    steps,
    prompts_per_step: batch_size,
    rollouts: Math.min(1024, Math.max(2, Math.round(defaults.rollouts * compute_multiplier))),
    lr: defaults.lr * learning_rate_multiplier,
    max_response,
    // A filter asks which answers are right, which not every grader knows.
    ...(givesOneWhereRight(grader) ? {} : { filter: { type: 'off' as const } }),
  };
  const eval_interval = given(asked.eval_interval);
  const eval_samples = given(asked.eval_samples);
  const evaluate = validation && {
    ...(eval_interval === undefined ? {} : { every_steps: eval_interval }),
    suites: [
      { name: 'validation', data: validation.id, grader, k: eval_samples ?? 1, sampling: { max_response } },
    ],
  };
  const hyperparameters = {
    n_epochs,
    batch_size,
    learning_rate_multiplier,
    compute_multiplier,
    max_response,
    ...(eval_interval === undefined ? {} : { eval_interval }),
    ...(eval_samples === undefined ? {} : { eval_samples }),
  };
  return {
    spec: {
      type: 'cascade',
      ...envelope(parts, Math.ceil(training.rows / batch_size)),
      stages: [stage],
      ...(evaluate && { evaluate }),
    } as JobSpecInput,
    method: { type: 'reinforcement', reinforcement: { grader: reinforcement.grader, hyperparameters } },
  };
}

/** A checkpoint after every pass over the rows, at least. */
function envelope({ request, model }: FineTuningJobParts, stepsOfEpoch: number) {
  const { suffix, seed, training_file } = request;
  const { init, tuning, resources } = model;
  return {
    ...((suffix ?? null) === null ? {} : { name: suffix as string }),
    seed: seed ?? 0,
    model: { init, ...(tuning && { tuning }) },
    checkpoints: { every_steps: Math.min(50, stepsOfEpoch) },
    ...(resources && { resources }),
    labels: { ...originLabel, training_file },
  };
}

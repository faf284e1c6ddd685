// The second half of a step but for the update: teacher after teacher, each over the rollouts of its domains, in the order of the
// stage's domains. The order does not depend on which teachers are open, and how many may be: gradients add up alike, to the bit.
import { sum } from '../mean.ts';
import { normalizersOf } from '../objective.ts';
import { divergence } from './divergence.ts';
import type { DistillStepOptions } from './options.ts';
import { policyGradient } from './policy-gradient.ts';
import type { SampledRollout } from './rollouts.ts';
import type { DistilledBatch, ForwardBackward, TeacherBatch } from './teacher-batch.ts';

/** Of all teachers together. */
export interface TimedBatch extends DistilledBatch {
  readonly times: {
    /** Seconds of the teachers, opening them included. */
    readonly time_teach: number;
    readonly time_train: number;
  };
}

/** Adds the gradient of the batch to the learner's; `time_train` is without the update, which is still to come. */
export async function forwardBackward(
  options: DistillStepOptions,
  rollouts: readonly SampledRollout[],
): Promise<TimedBatch> {
  const { stage, pool, policy } = options;
  const started = performance.now();
  let teacherMs = 0;
  const timedTeacher = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const began = performance.now();
    const result = await work();
    teacherMs += performance.now() - began;
    return result;
  };
  const pass = { learner: policy.learner, temperature: stage.temperature, timedTeacher };
  const byObjective = objectiveOf(options);
  const parts: DistilledBatch[] = [];
  for (const batch of teacherBatches(options, rollouts)) {
    const asked = performance.now();
    const part = await pool.use(batch.teacher, async (scorer) => {
      teacherMs += performance.now() - asked;
      return await byObjective(pass, batch, scorer);
    });
    parts.push(part);
  }
  const tookMs = performance.now() - started;
  return {
    ...together(parts, rollouts),
    times: { time_teach: teacherMs / 1000, time_train: (tookMs - teacherMs) / 1000 },
  };
}

const objectiveOf = ({ stage: { objective } }: DistillStepOptions): ForwardBackward =>
  objective.type === 'policy_gradient' ? policyGradient(objective) : divergence(objective);

/** Rollouts by the teacher of their domain, in the order of the batch. */
function teacherBatches(
  { stage, teachers, pool }: DistillStepOptions,
  rollouts: readonly SampledRollout[],
): TeacherBatch[] {
  const teacherOf = new Map(teachers.map(({ domain, teacher }) => [domain, teacher]));
  const normalizers = normalizersOf(
    stage.loss,
    rollouts.map(({ rollout }) => rollout),
  );
  const trained = rollouts.map((one, i) => ({ ...one, normalizer: normalizers[i]! }));
  return pool.names
    .map((teacher) => ({
      teacher,
      rollouts: trained.filter(({ source }) => teacherOf.get(source.domain) === teacher),
    }))
    .filter((batch) => batch.rollouts.length > 0);
}

/** In the order of `rollouts`. */
function together(parts: readonly DistilledBatch[], rollouts: readonly SampledRollout[]): DistilledBatch {
  const distilledOf = new Map(parts.flatMap(({ distilled }) => distilled).map((one) => [one.rollout, one]));
  const tokensOf = ({ distilled }: DistilledBatch): number =>
    sum(distilled.map(({ policyLogProbs_T }) => policyLogProbs_T.length));
  const tokens = sum(parts.map(tokensOf));
  return {
    distilled: rollouts.map(({ rollout }) => distilledOf.get(rollout)!),
    meanEntropy: sum(parts.map((part) => part.meanEntropy * tokensOf(part))) / tokens,
    plan: parts.flatMap(({ plan }) => plan),
  };
}

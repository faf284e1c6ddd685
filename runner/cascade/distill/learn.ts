// The second half of a step but for the update: teacher after teacher, each over the answers of its domains, in the order of the
// stage's domains. The order does not depend on which teachers are open, and how many may be: gradients add up alike, to the bit.
import { sum } from '../mean.ts';
import { partsOf } from '../objective.ts';
import type { Answer } from './answers.ts';
import { divergence } from './divergence.ts';
import type { Lesson, Pupil, Taught, Teach } from './lesson.ts';
import type { DistillStep } from './options.ts';
import { policyGradient } from './policy-gradient.ts';

export interface Learnt extends Pick<Lesson, 'meanEntropy' | 'plan'> {
  /** In the order of the batch. */
  readonly taught: readonly Taught[];
  readonly times: {
    /** Seconds of the teachers, opening them included. */
    readonly time_teach: number;
    readonly time_train: number;
  };
}

/** Adds the gradient of the batch to the learner's. What `time_train` of the step is has the update still to come. */
export async function learn(options: DistillStep, answers: readonly Answer[]): Promise<Learnt> {
  const { stage, pool, policy } = options;
  const started = performance.now();
  let teachMs = 0;
  const teaching = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const began = performance.now();
    const result = await work();
    teachMs += performance.now() - began;
    return result;
  };
  const classroom = { learner: policy.learner, temperature: stage.temperature, teaching };
  const teach = teachOf(options);
  const lessons: Lesson[] = [];
  for (const { name, pupils } of classesOf(options, answers)) {
    const asked = performance.now();
    const lesson = await pool.use(name, async (scorer) => {
      teachMs += performance.now() - asked;
      return await teach(classroom, { name, scorer }, pupils);
    });
    lessons.push(lesson);
  }
  const tookMs = performance.now() - started;
  return {
    ...together(lessons, answers),
    times: { time_teach: teachMs / 1000, time_train: (tookMs - teachMs) / 1000 },
  };
}

const teachOf = ({ stage: { objective } }: DistillStep): Teach =>
  objective.type === 'policy_gradient' ? policyGradient(objective) : divergence(objective);

interface Class {
  readonly name: string;
  readonly pupils: readonly Pupil[];
}

/** Answers by the teacher of their domain, in the order of the batch. */
function classesOf({ stage, teachers, pool }: DistillStep, answers: readonly Answer[]): Class[] {
  const teacherOf = new Map(teachers.map(({ domain, teacher }) => [domain, teacher]));
  const parts = partsOf(
    stage.loss,
    answers.map(({ rollout }) => rollout),
  );
  const pupils = answers.map((answer, i) => ({ ...answer, parts: parts[i]! }));
  return pool.names
    .map((name) => ({
      name,
      pupils: pupils.filter(({ source }) => teacherOf.get(source.domain) === name),
    }))
    .filter((one) => one.pupils.length > 0);
}

function together(lessons: readonly Lesson[], answers: readonly Answer[]): Omit<Learnt, 'times'> {
  const taught = lessons.flatMap((lesson) => lesson.taught);
  const of = new Map(taught.map((one) => [one.rollout, one]));
  const tokensOf = (lesson: Lesson): number => sum(lesson.taught.map(({ policy_T }) => policy_T.length));
  const tokens = sum(lessons.map(tokensOf));
  return {
    taught: answers.map(({ rollout }) => of.get(rollout)!),
    meanEntropy: sum(lessons.map((lesson) => lesson.meanEntropy * tokensOf(lesson))) / tokens,
    plan: lessons.flatMap(({ plan }) => plan),
  };
}

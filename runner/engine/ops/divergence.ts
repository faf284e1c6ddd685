// Distance of two distributions over the same words, row by row, from their logits: forward KL, reverse KL and what lies between,
// with the gradient written out. With p the student's softmax, q the teacher's, m = beta q + (1 - beta) p:
//   beta 0: KL(q || p);  beta 1: KL(p || q);  between: beta KL(q || m) + (1 - beta) KL(p || m),
// the generalised Jensen-Shannon divergence of GKD (Agarwal et al. 2023, arXiv 2306.13649, Eq. 1). That tends to 0 as beta tends to
// either end, where it is no loss at all: the ends are the KLs by definition (so TRL has it, huggingface/trl#3043).
// By the student's scaled logits: p - q;  p (log(p / q) - KL(p || q));  (1 - beta) p (log(p / m) - KL(p || m)).
// Everything is a function of d = log q - log p and of exp(-|d|), so that no logit overflows and equal ones give 0.
import { apply } from '../graph/graph.ts';
import type { Value } from '../graph/graph.ts';
import { expectFloat, expectSameDType, expectThat, operand } from '../graph/expect.ts';
import { defineOp, firstOrderOnly, vjp } from '../graph/op.ts';
import type { Emitter } from '../graph/op.ts';
import { sameShape, sizeAt } from '../graph/shape.ts';
import { topk } from './reduce.ts';

export interface DivergenceOptions {
  readonly beta: number;
  /** The teacher's likeliest words, all others being one; undefined, or as many as there are: every word for itself. */
  readonly topK?: number | undefined;
}

interface Attributes {
  readonly beta: number;
}

const lastAxis = { axis: { int: -1 } } as const;

const divergenceOp = defineOp<Attributes>({
  name: 'divergence',
  infer(inputs) {
    const [student, teacher, scale] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    expectFloat('divergence', student);
    for (const other of [teacher, scale]) expectSameDType('divergence', student, other);
    const fits = student.shape.length === 2 && sameShape(student.shape, teacher.shape);
    expectThat(
      fits && scale.shape.length === 0,
      'divergence',
      'logits [R,V] and [R,V], a scalar',
      student,
      teacher,
      scale,
    );
    return [{ dtype: student.dtype, shape: student.shape.slice(0, 1) }];
  },
  emit(emitter, { inputs, from, to, attributes: { beta } }) {
    const words = emitWords(emitter, inputs, from);
    const total = emitDistance(emitter, emitRatios(emitter, words, beta), beta);
    const rows = emitter.int64s([sizeAt(operand(inputs, 0).shape, 0)]);
    emitter.node('Reshape', [total, rows], { outputs: to });
  },
  gradient: vjp((g, { inputs, attributes }) => [apply(divergenceGradOp, [g, ...inputs], attributes)]),
});

/**
 * Logits [R,V] of student and teacher, inverse temperature of both (a number, or a scalar that each run sets): distances [R] in
 * nats. The gradient flows to the student's logits only.
 */
export function divergence(
  student: Value,
  teacher: Value,
  inverseTemperature: Value | number,
  { beta, topK }: DivergenceOptions,
): Value {
  if (!(beta >= 0 && beta <= 1)) throw new RangeError(`divergence: beta must be from 0 to 1, got ${beta}`);
  if (topK !== undefined && !(Number.isInteger(topK) && topK >= 1))
    throw new RangeError(`divergence: top k must be a whole number of words, got ${topK}`);
  const scale =
    typeof inverseTemperature === 'number'
      ? student.graph.scalar(inverseTemperature, student.dtype)
      : inverseTemperature;
  const some = topK !== undefined && topK < sizeAt(teacher.shape, 1);
  const indices = some ? [topk(teacher, topK).indices] : [];
  return apply(divergenceOp, [student, teacher, scale, ...indices], { beta });
}

/** g times the derivatives by the student's logits. */
const divergenceGradOp = defineOp<Attributes>({
  name: 'divergence_grad',
  infer: (inputs) => [{ dtype: operand(inputs, 1).dtype, shape: operand(inputs, 1).shape }],
  emit(emitter, { inputs, from, to, attributes: { beta } }) {
    const [g, ...ofForward] = from as [string, ...string[]];
    const words = emitWords(emitter, inputs.slice(1), ofForward);
    const slopes = emitSlopes(emitter, emitRatios(emitter, words, beta), beta);
    const rows = sizeAt(operand(inputs, 1).shape, 0);
    const h = emitter.node('Reshape', [
      emitter.node('Mul', [g, ofForward[2] as string]),
      emitter.int64s([rows, 1]),
    ]);
    const scaled = emitter.node('Mul', [slopes, h], words.rest ? {} : { outputs: to });
    if (words.rest) emitSpread(emitter, scaled, words.rest, to);
  },
  gradient: firstOrderOnly,
});

/** Of the words that are not the teacher's likeliest. */
interface Rest {
  /** [R,k]: those that are, and how many. */
  readonly indices: string;
  readonly count: number;
  /** The student's log-probabilities [R,V], those of the likeliest put out of reach, and the log of their sum [R,1]. */
  readonly student: string;
  readonly studentMass: string;
}

/** Log-probabilities of what is compared: [R,V], or [R,k+1] with the rest as the last. */
interface Words {
  readonly student: string;
  readonly teacher: string;
  readonly like: Value;
  readonly rest: Rest | undefined;
}

function emitWords(emitter: Emitter, inputs: readonly Value[], from: readonly string[]): Words {
  const [studentLogits, teacherLogits, scaleName, indices] = from as [string, string, string, string?];
  const [like, scale, chosen] = [operand(inputs, 0), operand(inputs, 2), inputs[3]];
  const [student, teacher] = [studentLogits, teacherLogits].map((logits) => {
    const scaled = scale.data?.[0] === 1 ? logits : emitter.node('Mul', [logits, scaleName]);
    return emitter.node('LogSoftmax', [scaled], { attributes: lastAxis });
  }) as [string, string];
  if (indices === undefined || chosen === undefined) return { student, teacher, like, rest: undefined };
  const out = emitter.node('Expand', [emitter.scalar(-1e30, like), emitter.int64s(chosen.shape)]);
  const [ofStudent, ofTeacher] = [student, teacher].map((logProbs) => {
    const rest = emitter.node('ScatterElements', [logProbs, indices, out], { attributes: lastAxis });
    const mass = emitLogSumExp(emitter, rest);
    const likeliest = emitter.node('GatherElements', [logProbs, indices], { attributes: lastAxis });
    return { rest, mass, words: emitter.node('Concat', [likeliest, mass], { attributes: lastAxis }) };
  }) as [Compared, Compared];
  const rest = {
    indices,
    count: sizeAt(chosen.shape, 1),
    student: ofStudent.rest,
    studentMass: ofStudent.mass,
  };
  return { student: ofStudent.words, teacher: ofTeacher.words, like, rest };
}

interface Compared {
  readonly rest: string;
  readonly mass: string;
  readonly words: string;
}

const emitRowSum = (emitter: Emitter, x: string): string =>
  emitter.node('ReduceSum', [x, emitter.int64s([-1])]);

/** [R,V] -> [R,1]. */
function emitLogSumExp(emitter: Emitter, x: string): string {
  const top = emitter.node('ReduceMax', [x, emitter.int64s([-1])]);
  const sum = emitRowSum(emitter, emitter.node('Exp', [emitter.node('Sub', [x, top])]));
  return emitter.node('Add', [emitter.node('Log', [sum]), top]);
}

/** By word: p and q, and the logs of what each has to be multiplied by to be what it is compared with. */
interface Ratios {
  readonly like: Value;
  readonly p: string;
  readonly q: string;
  /** log(m / p); of beta 1 log(q / p). */
  readonly overP: string;
  /** log(m / q); of beta 0 log(p / q). */
  readonly overQ: string;
}

function emitRatios(emitter: Emitter, { student, teacher, like }: Words, beta: number): Ratios {
  const d = emitter.node('Sub', [teacher, student]);
  const [p, q] = [student, teacher].map((logProbs) => emitter.node('Exp', [logProbs])) as [string, string];
  if (beta === 0 || beta === 1)
    return { like, p, q, overP: d, overQ: emitter.node('Sub', [student, teacher]) };
  // Of the likelier of the two: log m / it = log(its share + the other's share * exp(-|d|)), a sum in (0, 1].
  const [ofStudent, ofTeacher] = [emitter.scalar(1 - beta, like), emitter.scalar(beta, like)];
  const isTeacher = emitter.node('Greater', [d, emitter.scalar(0, like)]);
  const less = emitter.node('Exp', [emitter.node('Where', [isTeacher, emitter.node('Neg', [d]), d])]);
  const own = emitter.node('Where', [isTeacher, ofTeacher, ofStudent]);
  const other = emitter.node('Where', [isTeacher, ofStudent, ofTeacher]);
  const log = emitter.node('Log', [emitter.node('Add', [own, emitter.node('Mul', [other, less])])]);
  const overP = emitter.node('Where', [isTeacher, emitter.node('Add', [log, d]), log]);
  const overQ = emitter.node('Where', [isTeacher, log, emitter.node('Sub', [log, d])]);
  return { like, p, q, overP, overQ };
}

/** KL of [R,words] from what it is compared with, negated, [R,1]. */
const emitMean = (emitter: Emitter, probabilities: string, over: string): string =>
  emitRowSum(emitter, emitter.node('Mul', [probabilities, over]));

/** [R,1]. */
function emitDistance(emitter: Emitter, { like, p, q, overP, overQ }: Ratios, beta: number): string {
  if (beta === 0) return emitter.node('Neg', [emitMean(emitter, q, overQ)]);
  if (beta === 1) return emitter.node('Neg', [emitMean(emitter, p, overP)]);
  const ofTeacher = emitter.node('Mul', [emitMean(emitter, q, overQ), emitter.scalar(-beta, like)]);
  const ofStudent = emitter.node('Mul', [emitMean(emitter, p, overP), emitter.scalar(1 - beta, like)]);
  return emitter.node('Sub', [ofTeacher, ofStudent]);
}

/** Derivatives by the log-probabilities of the words before they are normalised, the student's scaled logits. */
function emitSlopes(emitter: Emitter, { like, p, q, overP }: Ratios, beta: number): string {
  if (beta === 0) return emitter.node('Sub', [p, q]);
  const beyond = emitter.node('Sub', [emitMean(emitter, p, overP), overP]);
  const slopes = emitter.node('Mul', [p, beyond]);
  return beta === 1 ? slopes : emitter.node('Mul', [slopes, emitter.scalar(1 - beta, like)]);
}

/** From the words compared to all [R,V]: the rest's share goes to each of its words as it is likely among them. */
function emitSpread(
  emitter: Emitter,
  slopes: string,
  { indices, count, student, studentMass }: Rest,
  to: readonly string[],
): void {
  const [likeliest, rest] = ['likeliest', 'rest'].map((part) => `${to[0]}/${part}`) as [string, string];
  emitter.node('Split', [slopes, emitter.int64s([count, 1])], {
    outputs: [likeliest, rest],
    attributes: lastAxis,
  });
  const among = emitter.node('Exp', [emitter.node('Sub', [student, studentMass])]);
  const everywhere = emitter.node('Mul', [among, rest]);
  emitter.node('ScatterElements', [everywhere, indices, likeliest], { outputs: to, attributes: lastAxis });
}

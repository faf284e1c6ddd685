// Distances of two distributions as they are defined, from probabilities in float64: what the engine's are checked against.
import type { DivergenceForm } from '../../../runner/engine/models/divergence-head.ts';
import { softmax } from '../models/float64-rows.ts';
import type { Vector } from '../models/float64-rows.ts';

function kl(a: readonly number[], b: readonly number[]): number {
  return a.reduce((total, ai, i) => total + ai * Math.log(ai / b[i]!), 0);
}

/** The teacher's likeliest words, then the rest as one. */
function words(p: Vector, likeliest: readonly number[] | undefined): number[] {
  if (likeliest === undefined) return [...p];
  const rest = p.reduce((total, pi, i) => (likeliest.includes(i) ? total : total + pi), 0);
  return [...likeliest.map((i) => p[i]!), rest];
}

export function float64Divergence(
  student: Vector,
  teacher: Vector,
  temperature: number,
  { beta, topK }: DivergenceForm,
): number {
  const order = [...teacher.keys()].sort((a, b) => teacher[b]! - teacher[a]!);
  const likeliest = topK === undefined || topK >= teacher.length ? undefined : order.slice(0, topK);
  const [p, q] = [student, teacher].map((logits) => words(softmax(logits, 1 / temperature), likeliest)) as [
    number[],
    number[],
  ];
  if (beta === 0) return kl(q, p);
  if (beta === 1) return kl(p, q);
  const m = p.map((pi, i) => (1 - beta) * pi + beta * q[i]!);
  return beta * kl(q, m) + (1 - beta) * kl(p, m);
}

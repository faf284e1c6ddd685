// How fast mathematical answers are compared, and what one that never ends costs itself and the others of its batch.
// The pairs are made here, of the kinds that the public sets hold: two in five need algebra, and those that need it
// are equal and unequal by turns. Part of the bench `rewards`.
import { availableParallelism } from 'node:os';
import { mathVerifier } from '../../runner/rewards/math.ts';
import { MathWorkers } from '../../runner/rewards/math/workers.ts';
import type { BenchResult } from './report.ts';
import { percentile, summary } from './report.ts';

interface Pair {
  readonly gold: string;
  readonly response: string;
}

const LIMIT_MS = 2_000;
const REPEATS = 6;

const hostile: readonly Pair[] = [
  { gold: '2\\sqrt{3}+1', response: '\\boxed{9^{9^{9^9}}+\\sqrt{2}}' },
  { gold: '2\\sqrt{3}+1', response: '\\boxed{100000!+\\sqrt{2}}' },
];

const ofNumbers = (i: number): Pair[] => [
  { gold: String(1000 + i), response: `So it is \\boxed{1,${String(i % 1000).padStart(3, '0')}}.` },
  { gold: `\\frac{${i}}{7}`, response: `The answer is ${i + 1}/7.` },
  { gold: `(${i}, ${i + 2})`, response: `$(${i + 2}, ${i})$` },
];

const ofAlgebra = (i: number): Pair[] => [
  { gold: `(x+${i})^2`, response: `Hence \\boxed{x^2+${2 * i}x+${i * i}}.` },
  { gold: `\\frac{1}{\\sqrt{${i + 2}}+1}`, response: `\\boxed{\\frac{\\sqrt{${i + 2}}-1}{${i + 2}}}` },
];

const pairs = (count: number): Pair[] =>
  Array.from({ length: count / 5 }, (_, i) => [...ofNumbers(i + 1), ...ofAlgebra(i + 1)]).flat();

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return (performance.now() - before) / 1000;
}

export async function mathBench(count: number): Promise<BenchResult[]> {
  const workers = new MathWorkers({ size: availableParallelism(), limitMs: LIMIT_MS });
  const verifier = mathVerifier(workers);
  const grade = ({ gold, response }: Pair) => verifier.grade({ prompt: 'p', answer: gold }, response);
  const gradeAll = () => seconds(() => Promise.all(pairs(count).map(grade)));
  try {
    await gradeAll(); // threads load
    const milliseconds: number[] = [];
    for (const pair of pairs(count)) milliseconds.push(1000 * (await seconds(() => grade(pair))));
    const batches = { alone: [] as number[], beside: [] as number[], limits: [] as number[] };
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      batches.alone.push(await gradeAll());
      const lost = seconds(() => grade(hostile[repeat % hostile.length]!));
      batches.beside.push(await gradeAll());
      batches.limits.push((1000 * (await lost)) / LIMIT_MS);
    }
    return [
      summary(
        'math_pairs_rate',
        'pairs/s',
        batches.alone.map((took) => count / took),
      ),
      percentile('math_pair_p50', 'ms', 0.5, milliseconds),
      percentile('math_pair_p99', 'ms', 0.99, milliseconds),
      summary('math_hostile_limits', 'time limits', batches.limits),
      summary(
        'math_batch_beside_hostile',
        'ratio',
        batches.beside.map((took, at) => took / batches.alone[at]!),
      ),
    ];
  } finally {
    await workers.close();
  }
}

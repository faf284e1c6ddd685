// The bench of what rewards cost: mathematical answers, instructions, programs in the sandbox.
import { instructionBench } from './instruction-checks.ts';
import { mathBench } from './math-pairs.ts';
import type { BenchResult } from './report.ts';
import { sandboxBench } from './sandbox.ts';

export async function rewardsBench({ small }: { readonly small: boolean }): Promise<BenchResult[]> {
  return [
    ...(await mathBench(small ? 100 : 1_000)),
    ...instructionBench(small ? 3 : 11),
    ...(await sandboxBench(small ? 10 : 100)),
  ];
}

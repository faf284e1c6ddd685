// How many instructions are checked a second, each of both taxonomies in its turn, on a response of 2,000 characters.
// Part of the bench `rewards`.
import { verdicts } from '../../runner/rewards/instructions/verdicts.ts';
import { ifbenchCases } from '../rewards/instructions/ifbench-cases.ts';
import { ifevalExamples } from '../rewards/instructions/ifeval-examples.ts';
import type { BenchResult } from './report.ts';
import { summary } from './report.ts';

const SENTENCE = 'The quick brown fox, who had 3 cubs, jumps over the lazy dog near the river. ';
const response = Array.from({ length: 26 }, (_, at) => SENTENCE + (at % 5 === 4 ? '\n\n' : '')).join('');

export function instructionBench(repeats: number): BenchResult[] {
  const asked: [string, Record<string, unknown>][] = [
    ...Object.entries(ifevalExamples).map(([id, [{ args }]]): [string, object] => [id, args]),
    ...Object.entries(ifbenchCases).map(([id, { args }]): [string, object] => [id, args]),
  ].map(([id, args]) => [id, { ...args }]);
  const rows = asked.map(([id, args]) => ({ prompt: 'p', instruction_id_list: [id], kwargs: [args] }));
  const rateOf = (mode: 'strict' | 'loose'): number[] =>
    Array.from({ length: repeats }, () => {
      const before = performance.now();
      for (const row of rows) verdicts(row, response, mode);
      return rows.length / ((performance.now() - before) / 1000);
    }).slice(1);
  return [
    summary('instruction_checks_strict', 'checks/s', rateOf('strict')),
    summary('instruction_checks_loose', 'checks/s', rateOf('loose')),
  ];
}

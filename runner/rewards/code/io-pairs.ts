// Runs a whole program once per pair, each time in a fresh sandbox, and compares what it printed. The wanted output never
// enters a sandbox. Ends at the first pair that fails.
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { IoPair } from '../../../api/contract/task.ts';
import type { Reward } from '../reward.ts';
import { invalid, scored } from '../reward.ts';
import type { Run, Sandbox } from '../sandbox/sandbox.ts';
import type { AnswerCode } from './answer-code.ts';
import { allPairsSeconds, pairLimits } from './limits.ts';
import { differingLine } from './same-output.ts';
import type { Parts } from './stopped.ts';
import { down, stoppedReward, unlessOurs } from './stopped.ts';
import { syntaxFaults } from './syntax.ts';

export async function pairsReward(
  sandbox: Sandbox,
  language: CodeLanguage,
  pairs: readonly IoPair[],
  answer: AnswerCode,
): Promise<Reward> {
  let spent = 0;
  for (const [at, pair] of pairs.entries()) {
    const parts: Parts = { passed: at, tests: pairs.length };
    const run = await sandbox.run({ language, main: answer.code, stdin: pair.input, limits: pairLimits });
    const where = `test ${at + 1} of ${pairs.length}`;
    if (run.status === 'down') return down(run.cause);
    if (run.status === 'stopped') return unlessOurs(sandbox, language, stoppedReward(run.by, parts, where));
    const fault = run.code === 0 ? outputFault(pair, run) : exitFault(run);
    if (fault !== undefined && run.code !== 0 && at === 0)
      return (await doesNotParse(sandbox, language, answer)) ?? scored(0, parts, `${where}: ${fault}`);
    if (fault !== undefined) return scored(0, parts, `${where}: ${fault}`);
    spent += run.cpuSeconds;
    if (spent > allPairsSeconds && at + 1 < pairs.length)
      return unlessOurs(sandbox, language, stoppedReward('cpu', parts, `${where}, all tests together`));
  }
  return scored(1, { passed: pairs.length, tests: pairs.length });
}

type Exited = Extract<Run, { status: 'exited' }>;

function outputFault(pair: IoPair, run: Exited): string | undefined {
  const line = differingLine(pair.output, run.stdout);
  return line === undefined ? undefined : `line ${line} of the output differs`;
}

const exitFault = (run: Exited): string =>
  `exit code ${run.code}: ${run.stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? ''}`;

async function doesNotParse(
  sandbox: Sandbox,
  language: CodeLanguage,
  answer: AnswerCode,
): Promise<Reward | undefined> {
  const faults = await syntaxFaults(sandbox, language, [answer.code]);
  if ('down' in faults) return down(faults.down);
  const [fault] = faults.of;
  if (fault === undefined) return undefined;
  return answer.fenced
    ? invalid('unparsable', 0, fault)
    : invalid('no_answer', 0, 'no fenced code, and the text is no program');
}

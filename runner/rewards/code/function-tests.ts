// Runs tests against functions of an answer. The tests run in one sandbox, the model's code in another; only plain data passes
// between them, so the model's code has nothing of the verdict within reach. ADR 0016.
import { z } from 'zod';
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { CodeTests, IoPair, TestedCode } from '../../../api/contract/task.ts';
import type { Reward } from '../reward.ts';
import { invalid, scored } from '../reward.ts';
import type { Conversation, Run, Sandbox } from '../sandbox/sandbox.ts';
import type { AnswerCode } from './answer-code.ts';
import type { AnswerSettings, Call, JudgeSettings } from './drivers.ts';
import { driver } from './drivers.ts';
import { functionTestLimits } from './limits.ts';
import { definesEntry, promptCode } from './prompt-code.ts';
import { down, isStopped, stoppedReward, unlessOurs } from './stopped.ts';

/** What a judge writes. `passed`: of the tests in their order, those before the first that failed. */
const verdict = z.strictObject({
  end: z.enum(['passed', 'failed', 'unparsable']),
  passed: z.int().nonnegative(),
  detail: z.string().optional(),
});
type Verdict = z.infer<typeof verdict>;

/** Each line of `input` is one argument, `output` the result, all JSON. Throws a SyntaxError where they are not. */
export const callOf = ({ input, output }: IoPair): Call => ({
  args: input
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): unknown => JSON.parse(line)),
  result: JSON.parse(output),
});

const testsOf = (tests: CodeTests): Pick<JudgeSettings, 'tests' | 'calls'> => {
  if (typeof tests === 'string') return { tests: [tests] };
  const calls = tests.flatMap((test) => (typeof test === 'string' ? [] : [callOf(test)]));
  return calls.length > 0 ? { calls } : { tests: tests.filter((test) => typeof test === 'string') };
};

export async function functionTestReward(
  sandbox: Sandbox,
  language: CodeLanguage,
  row: TestedCode,
  answer: AnswerCode,
): Promise<Reward> {
  const settings = {
    prefix: promptCode(row, language),
    setup: row.setup ?? '',
    entry: row.entry_point ?? '',
  };
  const whole = definesEntry(answer.code, settings.entry, language);
  const tests = testsOf(row.tests);
  const count = (tests.calls ?? tests.tests ?? []).length;
  const limits = functionTestLimits(count);
  const conversation = await sandbox.converse(
    driver('judge', language, { ...settings, ...tests } satisfies JudgeSettings, limits),
    driver('answer', language, { ...settings, code: answer.code, whole } satisfies AnswerSettings, limits),
  );
  return rewardOf(sandbox, language, conversation, count, answer.fenced);
}

async function rewardOf(
  sandbox: Sandbox,
  language: CodeLanguage,
  { judge, candidate }: Conversation,
  tests: number,
  fenced: boolean,
): Promise<Reward> {
  if (judge.status === 'down') return down(judge.cause);
  if (candidate.status === 'down') return down(candidate.cause);
  const found = verdictOf(judge);
  const parts = { passed: found?.passed ?? 0, tests };
  if (found?.end === 'passed' && found.passed === tests) return scored(1, parts);
  if (found?.end === 'unparsable')
    return fenced
      ? invalid('unparsable', 0, found.detail)
      : invalid('no_answer', 0, 'no fenced code, and the text is no program');
  const where = `test ${parts.passed + 1} of ${tests}`;
  const broken = brokenLimit(candidate) ?? brokenLimit(judge);
  if (broken !== undefined) return unlessOurs(sandbox, language, stoppedReward(broken, parts, where));
  if (found === undefined)
    return unlessOurs(sandbox, language, scored(0, parts, `${where}: the tests ended without a verdict`));
  return scored(0, parts, `${where}: ${found.detail ?? 'the tests ended before it did'}`);
}

/** A candidate always ends by a signal when its judge has ended first; that says nothing. */
const brokenLimit = (run: Run) => (isStopped(run) && run.by !== 'signal' ? run.by : undefined);

function verdictOf(judge: Run): Verdict | undefined {
  if (judge.status !== 'exited') return undefined;
  try {
    return verdict.parse(JSON.parse(judge.report));
  } catch {
    return undefined;
  }
}

// 1 where the program in the response passes every test of its row (of all its subtasks), else 0. Model code runs in the sandbox only,
// and never in the process that decides (ADR 0016).
import type { CodeLanguage } from '../../api/contract/grader.ts';
import type { CodeRow, IoPair, TestedCode } from '../../api/contract/task.ts';
import { answerPart } from './answer-part.ts';
import { answerCode } from './code/answer-code.ts';
import type { AnswerCode } from './code/answer-code.ts';
import { functionTestReward } from './code/function-tests.ts';
import { pairsReward } from './code/io-pairs.ts';
import { testFaults } from './code/test-faults.ts';
import { goldCode } from './code/prompt-code.ts';
import { subtasksReward, testedParts } from './code/subtasks.ts';
import type { Reward } from './reward.ts';
import { invalid, unscored } from './reward.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { Verifier } from './verifier.ts';

/** Without a sandbox, or with one that cannot run the language, nothing is scored. */
export const codeVerifier = (sandbox: Sandbox | undefined, language: CodeLanguage): Verifier<CodeRow> => ({
  grade: (row, response) => codeReward(sandbox, language, row, response),
  maxScore: () => 1,
  goldResponse: (row) => goldCode(row, language),
  rowFault: async (row) => (sandbox === undefined ? undefined : testFaults(sandbox, language, row)),
});

async function codeReward(
  sandbox: Sandbox | undefined,
  language: CodeLanguage,
  row: CodeRow,
  response: string,
): Promise<Reward> {
  const part = answerPart(response);
  if (part === undefined) return invalid('no_answer', 0, 'the thinking block does not end');
  const answer = answerCode(part, language);
  if (answer === undefined) return invalid('no_answer', 0, `no code that is or may be ${language}`);
  if (sandbox === undefined) return unscored('no_backend', 'no sandbox on this runner');
  const judge = (part: TestedCode) => testedReward(sandbox, language, part, answer);
  const parts = testedParts(row);
  return row.subtasks === undefined ? judge(parts[0]!) : subtasksReward(parts, judge);
}

async function testedReward(
  sandbox: Sandbox,
  language: CodeLanguage,
  part: TestedCode,
  answer: AnswerCode,
): Promise<Reward> {
  const pairs = wholeProgramPairs(part);
  const missing = lacks(sandbox, language, pairs !== undefined);
  if (missing !== undefined) return unscored('no_backend', missing);
  return pairs === undefined
    ? functionTestReward(sandbox, language, part, answer)
    : pairsReward(sandbox, language, pairs, answer);
}

/** QuickJS has neither the modules by which programs read their input nor types: there even right answers would fail. */
function lacks(sandbox: Sandbox, language: CodeLanguage, wholeProgram: boolean): string | undefined {
  if (!sandbox.languages.includes(language))
    return sandbox.missing[language] ?? `no back end for ${language}`;
  if (sandbox.backEnd !== 'quickjs') return undefined;
  if (language !== 'javascript') return needsBubblewrap(language);
  return wholeProgram ? 'QuickJS runs functions only: tests of whole programs need bubblewrap' : undefined;
}

const needsBubblewrap = (language: CodeLanguage): string => `tests in ${language} need bubblewrap`;

/** What a runner may say that it grades: of the sandbox's languages those in which any row can be graded at all. */
export function gradableLanguages({ backEnd, languages, missing }: Sandbox): {
  readonly languages: CodeLanguage[];
  readonly missing: Partial<Record<CodeLanguage, string>>;
} {
  const beyond: readonly CodeLanguage[] =
    backEnd === 'quickjs' ? languages.filter((language) => language !== 'javascript') : [];
  return {
    languages: languages.filter((language) => !beyond.includes(language)),
    missing: {
      ...missing,
      ...Object.fromEntries(beyond.map((language) => [language, needsBubblewrap(language)])),
    },
  };
}

/** With an entry point, pairs are arguments and result of a function. */
const wholeProgramPairs = ({ tests, entry_point }: TestedCode): readonly IoPair[] | undefined => {
  if (typeof tests === 'string' || entry_point !== undefined) return undefined;
  const pairs = tests.filter((test) => typeof test !== 'string');
  return pairs.length > 0 ? pairs : undefined;
};

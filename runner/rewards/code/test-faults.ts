// Whether the tests of a row can be run at all, for the validation of datasets. It runs nothing of the row.
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { CodeRow, TestedCode } from '../../../api/contract/task.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { callOf } from './function-tests.ts';
import { testedParts } from './subtasks.ts';
import { syntaxFaults } from './syntax.ts';

/** What is wrong with the row's tests, undefined where they parse. Throws where the sandbox could not be asked. */
export async function testFaults(
  sandbox: Sandbox,
  language: CodeLanguage,
  row: CodeRow,
): Promise<string | undefined> {
  for (const [index, part] of testedParts(row).entries()) {
    const fault = await partFault(sandbox, language, part);
    if (fault !== undefined) return row.subtasks === undefined ? fault : `subtask ${index + 1}: ${fault}`;
  }
  return undefined;
}

async function partFault(
  sandbox: Sandbox,
  language: CodeLanguage,
  part: TestedCode,
): Promise<string | undefined> {
  const texts = typeof part.tests === 'string' ? [part.tests] : part.tests;
  const programs = texts.filter((test) => typeof test === 'string');
  if (programs.length === 0) return part.entry_point === undefined ? undefined : callFault(part);
  const faults = await syntaxFaults(sandbox, language, [part.setup ?? '', ...programs]);
  if ('down' in faults) throw new Error(`tests could not be checked, the sandbox is down: ${faults.down}`);
  const at = faults.of.findIndex((fault) => fault !== undefined);
  if (at < 0) return undefined;
  return `${at === 0 ? 'setup' : `test ${at} of ${programs.length}`} does not parse: ${faults.of[at]}`;
}

function callFault({ tests }: TestedCode): string | undefined {
  const pairs = typeof tests === 'string' ? [] : tests.filter((test) => typeof test !== 'string');
  for (const [at, pair] of pairs.entries())
    try {
      callOf(pair);
    } catch (error) {
      return `test ${at + 1} of ${pairs.length}: with entry_point every line of input is an argument and output the result, as JSON; ${(error as Error).message}`;
    }
  return undefined;
}

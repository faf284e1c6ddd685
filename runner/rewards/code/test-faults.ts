// Whether the tests of a row can be run at all, for the validation of datasets. It runs nothing of the row.
import type { CodeLanguage } from '../../../api/contract/grader.ts';
import type { CodeRow } from '../../../api/contract/task.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { callOf } from './function-tests.ts';
import { syntaxFaults } from './syntax.ts';

/** What is wrong with the row's tests, undefined where they parse. Throws where the sandbox could not be asked. */
export async function testFaults(
  sandbox: Sandbox,
  language: CodeLanguage,
  row: CodeRow,
): Promise<string | undefined> {
  const texts = typeof row.tests === 'string' ? [row.tests] : row.tests;
  const programs = texts.filter((test) => typeof test === 'string');
  if (programs.length === 0) return row.entry_point === undefined ? undefined : callFault(row);
  const faults = await syntaxFaults(sandbox, language, [row.setup ?? '', ...programs]);
  if ('down' in faults) throw new Error(`tests could not be checked, the sandbox is down: ${faults.down}`);
  const at = faults.of.findIndex((fault) => fault !== undefined);
  if (at < 0) return undefined;
  return `${at === 0 ? 'setup' : `test ${at} of ${programs.length}`} does not parse: ${faults.of[at]}`;
}

function callFault(row: CodeRow): string | undefined {
  const pairs = typeof row.tests === 'string' ? [] : row.tests.filter((test) => typeof test !== 'string');
  for (const [at, pair] of pairs.entries())
    try {
      callOf(pair);
    } catch (error) {
      return `test ${at + 1} of ${pairs.length}: with entry_point every line of input is an argument and output the result, as JSON; ${(error as Error).message}`;
    }
  return undefined;
}

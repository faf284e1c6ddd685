// Graded answers of attack tests, in real sandboxes: what an answer is worth, and that one is worth nothing by its own fault.
import { afterAll, beforeAll, expect } from 'vitest';
import type { CodeLanguage } from '../../../../api/contract/grader.ts';
import type { CodeRow } from '../../../../api/contract/task.ts';
import { codeVerifier } from '../../../../runner/rewards/code.ts';
import { openSandbox } from '../../../../runner/rewards/sandbox/open.ts';
import type { Sandbox } from '../../../../runner/rewards/sandbox/sandbox.ts';

/** Opens a sandbox for the tests of the file. `code` goes into a fenced block of the language. */
export function useAttacks(language: CodeLanguage) {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openSandbox();
  });
  afterAll(() => sandbox.close());

  const grade = (row: CodeRow, code: string) =>
    codeVerifier(sandbox, language).grade(row, `\`\`\`${language}\n${code}\n\`\`\``);
  const expectWorthless = async (row: CodeRow, code: string): Promise<void> => {
    const reward = await grade(row, code);
    expect(reward).toMatchObject({ value: 0 });
    expect(['scored', 'invalid']).toContain(reward.status);
  };
  return { grade, expectWorthless };
}

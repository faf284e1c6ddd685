// Rows with subtasks, in a real sandbox: each is judged by itself, the value is 1 only where all are solved, and what is nobody's
// fault leaves all of the answer unscored.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeRow } from '../../../api/contract/task.ts';
import type { CodeRow } from '../../../api/contract/task.ts';
import { codeVerifier } from '../../../runner/rewards/code.ts';
import { solvedSubtasks } from '../../../runner/rewards/code/subtasks.ts';
import { openSandbox } from '../../../runner/rewards/sandbox/open.ts';
import type { Sandbox } from '../../../runner/rewards/sandbox/sandbox.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.close());

/** Functions in JavaScript: every back end of the sandbox runs them. */
const row: CodeRow = {
  prompt: 'Define max(a), the largest of an array; 0 for an empty one.',
  entry_point: 'largest',
  subtasks: [
    { points: 20, tests: [{ input: '[1, 2]', output: '2' }] },
    { points: 30, tests: [{ input: '[]', output: '0' }] },
    {
      points: 50,
      tests: [
        { input: '[-2, -1]', output: '-1' },
        { input: '[-5]', output: '-5' },
      ],
    },
  ],
  solution: 'function largest(a) { return a.length === 0 ? 0 : Math.max(...a); }',
};
const grade = (code: string, of: CodeRow = row) =>
  codeVerifier(sandbox, 'javascript').grade(of, `\`\`\`javascript\n${code}\n\`\`\``);

describe('a row with subtasks', () => {
  it('is worth 1 where all are solved', async () => {
    expect(await grade(row.solution!)).toEqual({
      status: 'scored',
      value: 1,
      parts: { subtask_1: 1, subtask_2: 1, subtask_3: 1 },
    });
  });

  it('is worth 0 where one is not, and its parts say which are', async () => {
    const ofNaturals = await grade('function largest(a) { return Math.max(0, ...a); }');
    expect(ofNaturals).toMatchObject({
      status: 'scored',
      value: 0,
      parts: { subtask_1: 1, subtask_2: 1, subtask_3: 0 },
      detail: expect.stringMatching(/^subtask_3: test 1 of 2/),
    });
    expect(solvedSubtasks(3, ofNaturals)).toEqual([true, true, false]);
  });

  it('goes on after a subtask that takes too long', async () => {
    const slow = await grade('function largest(a) { while (a.length === 0); return Math.max(...a); }');
    expect(solvedSubtasks(3, slow)).toEqual([true, false, true]);
  }, 60_000);

  it('has no value where no program is there', async () => {
    expect(await grade('function largest(a) {')).toMatchObject({ status: 'invalid', code: 'unparsable' });
    expect(solvedSubtasks(3, await grade('function largest(a) {'))).toEqual([false, false, false]);
  });

  it('is unscored without a sandbox', async () => {
    const verifier = codeVerifier(undefined, 'javascript');
    expect(await verifier.grade(row, '```javascript\n1\n```')).toMatchObject({
      status: 'unscored',
      code: 'no_backend',
    });
  });

  it('is refused at registration where the tests of a subtask are none', async () => {
    const verifier = codeVerifier(sandbox, 'javascript');
    expect(await verifier.rowFault!(row)).toBeUndefined();
    const subtasks = [row.subtasks![0]!, { points: 1, tests: [{ input: 'x y', output: '1' }] }];
    expect(await verifier.rowFault!({ ...row, subtasks })).toMatch(/^subtask 2: test 1 of 1: /);
  });
});

describe('the schema', () => {
  const given = { prompt: 'p', tests: 'x', subtasks: [{ points: 1, tests: 'x' }] };

  it.each([
    ['tests alone', { ...given, subtasks: undefined }, true],
    ['subtasks alone', { ...given, tests: undefined }, true],
    ['both', given, false],
    ['neither', { prompt: 'p' }, false],
    ['points of nothing', { prompt: 'p', subtasks: [{ points: 0, tests: 'x' }] }, false],
    ['no subtask', { prompt: 'p', subtasks: [] }, false],
  ])('%s', (_, row, fits) => {
    expect(codeRow.safeParse(row).success).toBe(fits);
  });
});
